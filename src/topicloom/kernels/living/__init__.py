"""The loops of maintainers: a population that changes, and topics that are mended.

- `backups`: Backups of nodes: for each node some others that together want all of its topics, several times over.
- `backups_by_bits`: Backups where topics are large: what nodes owe is kept by bits, 64 nodes at a time.
- `growing_rows`: Rows of numbers that grow and shrink: who wants a topic, who is linked with a node, who stands in
  for whom.
- `joining_pieces`: Mending topics that are in pieces, by links among few nodes: Shadows, algorithms 2, 7 and 10.
- `needed_links`: Whether a topic needs a link: whether it is the only way between its ends among the nodes that want
  the topic.
- `population`: A population that changes: who is there, who wants what, who is linked with whom, and who stands in
  for whom.
- `shadow_sets`: What happens when a node joins, leaves or changes its topics, and is mended by shadow sets or
  naively: Shadows, V.
- `wanting_rows`: Who wants each topic as a row of bits, one for each node, where topics are large enough for it to
  pay.
"""
