"""The loops of content-based networks: traffic, trees over brokers, users placed and moved.

- `assigning`: Giving users to brokers one after the other, within capacity.
- `boxes`: How much of a cell several boxes cover together.
- `clusters`: Clusters of users with much traffic among themselves: a pair to begin with at each broker, then one by
  one.
- `core_traffic`: Who publishes and who wants what at which broker, and what carrying it between brokers costs.
- `mixing`: Steiner mixing, first phase: a tree for each first broker and channel, and the traffic on users' links in
  them.
- `moving`: What moving one user from a broker to another would change, exactly, for all brokers at once.
- `spanning`: Minimum spanning trees over some of the brokers, and what one broker more would add.
- `sparse_rows`: Rows of a sparse table: channels by user or users by channel, and a number with each.
- `tree_growing`: A tree from a first broker to users, who join it nearest first (the Content paper, algorithm 3).
- `useful_brokers`: Brokers that may be the last on a cheapest path to a user, and the users of each, nearest first.
"""
