"""Components, distances, relays and trees, of each topic over the links of an overlay.

- `cheapest_trees`: The cheapest tree of every topic, and the longest way through it.
- `components`: Components of topics: union-find, what each link of a list merges, and how many pieces each topic is
  in.
- `distances`: Exact diameters of topics.
- `minimum_cut`: The lightest cut through a graph.
- `relay_search`: Searching for relays: the shortest paths that join the components of a topic over the whole overlay.
- `relay_trees`: One tree for all topics, and moving parts of it to where less is relayed.
- `relays`: Relays: nodes that do not want a topic but are needed to join its components.
- `routing`: Routing trees: for every topic a shallow tree over its subscribers, and over relays where it needs them.
"""
