"""Compiled loops on plain arrays; they know nothing of interests or overlays.

- `greedy`: the search for the best link, for greedy designers.
- `baselines`: stars, coverage and random links, for other designers.
- `backbone`: covers of topics by hosts, for the backbone designer.
- `living`: events mended by shadow sets, for maintainers.
- `graphs`: components, diameters, relays and routing trees, for measures and broker plans.
- `content`: content-based networks.
- `bounds`: what no overlay can be below, from pairs of nodes.
- `jit`: how kernels are compiled, and where the compiled code is kept.

Words shared by all: a subscription is a position in `node_topics`, the rows of topics by node; `node_start`
says where each node's row begins. `topic_nodes` and `topic_start` are the same by topic.
"""
