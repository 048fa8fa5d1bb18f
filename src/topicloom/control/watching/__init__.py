"""A fleet followed: events mended, planned and applied, and told about.

- `controller`: looks, decides, plans and applies, again and again.
- `decisions`: what a controller has decided, on disk, and the overlay that it leads to.
- `event_feed`: events from a file, a folder, standard input or a collector.
- `health`: whether a broker answers in its own protocol.
- `hold_down`: who is there and who is gone, without following every flap.
- `allowance`: when, and how much an hour, a fleet may be changed.
- `wishes`: who wants and who publishes what, as a controller knows it.
- `left_out`: what plans leave out: nodes without a broker, topics that brokers cannot carry.
- `mesh_links`, `tree_links`: how links are designed and mended, a tree for each topic or one for all of them.
- `status_board`: what is known of a fleet, for people and programs.
- `status_server`: the same over HTTP.
"""
