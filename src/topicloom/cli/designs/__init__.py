"""Commands that make subscriptions, design overlays and measure them.

- `bound`
- `compare`
- `design`
- `designers`
- `generate`
- `improve`
- `measure`
"""
