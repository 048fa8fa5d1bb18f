"""What the explorer shows of each kind of thing.

- `network_view`: A network, and what is told of whatever is clicked.
- `time_view`: What events did to an overlay, event by event. `fleet_view`: a fleet under control, as it is now.
- `sweep_view`: Designers on many workloads, as curves. `content_view`: the brokers of a content-based network.
- `papers_view`: What papers say, and what our own runs give.
"""
