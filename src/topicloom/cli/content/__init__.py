"""The commands of `topicloom content`.

- `assign`
- `compare`
- `content_options`: Options that the commands of `topicloom content` share, and running its algorithms while a person
  watches.
- `cost`
- `generate`
- `group`
- `summarize`
- `sweep`
"""
