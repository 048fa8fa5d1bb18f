"""The backbone designer: a core designed by another designer, hosts and leaves hung onto it.

- `backbone`: the designer, on one machine.
- `trunk`: which nodes are hosts, and the links among them.
- `leaves`: hanging the other nodes onto the hosts, block by block, each block by itself.
- `repair`: joining what a limit on degrees left in pieces, by any nodes that have room.
- `fleet_rows`: what the two need to know of the nodes, wherever these are kept.
"""
