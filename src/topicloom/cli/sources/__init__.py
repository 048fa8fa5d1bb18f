"""Commands that find out what is there.

- `collect`
- `events`
- `import_links`
"""
