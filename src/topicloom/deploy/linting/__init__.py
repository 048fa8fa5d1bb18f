"""What is wrong with the bridges of a fleet, found without running it.

- `lint`: What is wrong with the bridges of a fleet, found without running it.
- `patterns`: MQTT patterns: what they match, what two of them share, and names that stand for all that they match.
- `propagation`: Where a message goes in a fleet of bridged brokers, as Mosquitto passes it on.
"""
