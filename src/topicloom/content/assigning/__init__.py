"""Algorithms that assign users to brokers, one a file.

- `broker_lists`: For each broker of a network the users that come to it on some cheapest path, nearest first.
- `clustering`: Two-stage clustering: the Content paper, section III-B, algorithm 2.
- `least_cost`: The least cost, by an integer program: the Content paper, section II-B, for small networks.
- `mixing_trees`: Phase 1 of Steiner mixing: the traffic on the links of users to brokers, in all trees together.
- `packing`: Two-stage greedy packing: the Content paper, section III-A, algorithm 1.
- `random_assignment`: Random assignment: the Content paper, section VI-B, its yardstick.
- `steiner_mixing`: Steiner-tree mixing: the Content paper, section IV-B, algorithm 3.
- `sub_channel`: The sub-channel program: the Content paper, section IV-A, equations 6 to 8, relaxed and rounded.
"""
