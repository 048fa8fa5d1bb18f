"""The loops of designers that do not search for the best link.

- `coverage`: Coverage: nodes link to others until each of their topics is covered often enough.
- `coverage_by_bits`: Coverage where topics are large: counted by rows of bits, many nodes at a time.
- `coverage_in_turns`: Coverage in turns: every node makes one link in its turn, and coverage rises until no node can
  take another.
- `random_links`: Random pairs of nodes that never give a node more than a number of links.
- `star_links`: Stars: take a node, link it with everyone it shares a remaining topic with, drop its topics, repeat.
"""
