"""The distributed algorithm: users move between brokers that exchange messages.

- `actors`: Brokers and users that exchange the calls of the Content paper, section V.
- `announced_sums`: What brokers have told each other: the sums by channel and the load of each, and what follows for
  a user's move.
- `mailbox`: The post between brokers and users: what is sent arrives later, and between the same two in the order
  sent.
- `migration`: Migration: the Content paper, sections IV-C and V, the distributed algorithm.
"""
