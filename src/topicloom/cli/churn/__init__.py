"""Commands about overlays that live.

- `churn`
- `maintain`
- `stream`
"""
