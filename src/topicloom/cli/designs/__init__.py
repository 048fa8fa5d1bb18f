"""Commands that make subscriptions, design overlays and measure them.

- `compare`
- `design`
- `designers`
- `generate`
- `measure`
"""
