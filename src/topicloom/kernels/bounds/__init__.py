"""Loops over pairs of nodes that certify what no overlay can be below.

- `link_offers`: what links would get from offers of nodes, pair by pair.
- `neighbour_covers`: how many neighbours a node needs at least.
- `sharing_islands`: which nodes share topics, directly or through others.
"""
