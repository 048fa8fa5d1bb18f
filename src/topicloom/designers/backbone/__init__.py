"""The backbone designer: a core designed by another designer, hosts and leaves hung onto it.

- `backbone`: the designer, on one machine.
- `trunk`: which nodes are hosts, and the links among them.
- `leaves`: hanging the other nodes onto the hosts, block by block, each block by itself.
- `node_limits`: how many links a node may have, and with whom.
- `fleet_rows`: what the two need to know of the nodes, wherever these are kept.
"""
