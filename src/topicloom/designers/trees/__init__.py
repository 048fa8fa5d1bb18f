"""Designers whose overlay is one tree, for brokers that cannot give each topic a tree of its own.

- `limited_forest`: a forest within constraints. `tree`: the tree over which least is relayed.
"""
