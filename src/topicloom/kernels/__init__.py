"""Compiled loops on plain arrays; they know nothing of interests or overlays.

For greedy designers:
- `greedy`: the two rules by which links are added.
- `search`: the best link there is, found by going down from upper bounds.
- `candidates`: the links that may be added, each with an upper bound of its contribution.
- `topics`: what the search asks of the topics; answered by `topic_bits` where nodes share much and by
  `topic_lists` where they share little. Both keep components as `circles`.
- `lanes`: operations on 64 bytes at a time.

For other designers: `stars`, `coverage` (SpiderCast) and `random_links`.

For living overlays: `fleet` (who is there), `rows` (rows that grow), `backups` (who stands in for whom), `mending`
(links among few nodes), `shadows` (what happens at a join, a leave, a change) and `needed` (links that a topic needs).

For measures: `components` (union-find), `distances` (diameters) and `relays` (Steiner trees).

For broker plans: `routing`, a shallow tree for every topic.

For content-based networks:
- `spanning`: minimum spanning trees over brokers. `core_traffic`: what is published and wanted where, and its cost.
- `assigning`: users to brokers within capacity. `clusters`, `mixing`: the loops of clustering and Steiner mixing.
- `moving`: what a user's move changes. `boxes`: how much of a cell boxes cover. `channel_rows`: channels by user.

`jit` says how kernels are compiled and where the compiled code is kept.

Words shared by all: a subscription is a position in `node_topics`, the rows of topics by node; `node_start`
says where each node's row begins. `topic_nodes` and `topic_start` are the same by topic.
"""
