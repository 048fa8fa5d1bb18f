"""Commands that take an overlay to real brokers.

- `apply`
- `diff`
- `explain`
- `lint`
- `live`
- `plan`
- `render`
- `watch`
"""
