"""Commands that put results together.

- `explore`
- `report`
- `reproduce`
"""
