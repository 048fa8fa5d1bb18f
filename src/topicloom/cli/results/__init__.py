"""Commands that put results together.

- `report`
- `reproduce`
"""
