"""What a content-based network is, and its files.

- `access_table`: The table of access prices, the large one: read and written a part at a time.
- `channels_by_user`: Rows of channels by user, from lists in any order.
- `core_prices`: Core prices as a metric: checked, or made one by shortest paths.
- `described_network`: A network as it is described: densities and boxes in a space, and prices; made into a network,
  or into its folder.
- `network`: A content-based network: users that publish and subscribe by channel, brokers, and prices of the links.
- `network_folder`: Networks as folders of Parquet tables that anybody can write; docs/content.md describes them.
- `network_tables`: The tables that a network is made of.
- `space`: The content space: attributes cut into cells, each cell a channel.
"""
