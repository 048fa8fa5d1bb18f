"""Hanging nodes onto hosts: covers of a node's topics by few nodes that want them too.

- `host_rows`: Who of the hosts wants each topic, as bitsets and lists.
- `covers`: Covers of a node's topics by as few hosts as greedy choices find, and links from them.
- `fitting_links`: Which links of a list may be built, where nodes have limits and some may not be linked.
- `piece_joining`: Joining the pieces of topics by links between any two nodes that have room.
"""
