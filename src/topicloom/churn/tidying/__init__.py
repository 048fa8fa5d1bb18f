"""Overlays made better where they are: links that go, and links that take the place of others.

- `improving`: an overlay brought nearer to a fresh design by few changes.
- `pruning`: dropping links that no topic needs any more, after each event.
- `relieving`: links taken off the nodes that have most.
"""
