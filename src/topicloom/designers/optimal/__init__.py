"""The best overlays there are, for small interests.

- `exact`: the fewest links, or the lowest max degree, proved.
- `cutting_planes`: the search for them: an integer program to which cuts are added while some topic is in pieces.
- `sharing_pairs`: the links to choose from, and which topics they can serve.
"""
