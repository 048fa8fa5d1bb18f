"""Designers whose overlay is one tree, for brokers that cannot give each topic a tree of its own.

- `tree`: the tree over which least is relayed.
"""
