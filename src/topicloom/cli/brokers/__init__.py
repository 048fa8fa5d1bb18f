"""Commands that take an overlay to real brokers.

- `diff`
- `explain`
- `lint`
- `live`
- `plan`
- `render`
"""
