"""What is wrong with the bridges of a fleet, found without running it.

- `leafnode_circles`: Circles among leafnode connections of NATS servers, which refuse them.
- `lint`: What is wrong with the bridges of a fleet, found without running it.
- `propagation`: Where a message goes in a fleet of bridged brokers, as Mosquitto passes it on.
"""
