"""Compiled loops on plain arrays. They import nothing of interests or overlays.

- `jit`: how kernels are compiled, and where the compiled code is kept. `simd`: vectors. `bit_planes`: rows of bits.
- Greedy designers: `greedy` has what every search answers, and steps of their loops; `pair_bounds` and
  `pair_search` search all pairs, `row_search` row by row, `price_search` by price; `topic_bits` and `topic_members` are
  topics as bits and as lists.
- Other designers: `stars`, `coverage`, `random_links`; `covers` and `joining` for the backbone.
- Graphs: `components`, `paths`, `relays`, `routing`, `price_trees`, `relay_trees`, `minimum_cut`, `bounds`.
- Churn: `live_graph`, `backups`, `mending`, `shadow_sets`, `needed_links`.

Words shared by all: a subscription is a position in `node_topics`, the rows of topics by node; `node_start`
says where the row of each node begins. `topic_nodes` and `topic_start` are the same by topic.
"""
