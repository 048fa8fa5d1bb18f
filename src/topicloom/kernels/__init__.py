"""Compiled loops on plain arrays; they know nothing of interests or overlays.

- `jit`: how kernels are compiled and where the compiled code is kept.
- `components`: union-find over subscriptions; what each link of a list merges.

Words shared by all: a subscription is a position in `node_topics`, the rows of topics by node; `node_start`
says where each node's row begins.
"""
