"""A plan's fleet as real brokers on this machine, and messages that are counted.

- `clients`: MQTT clients, one at every broker of a fleet, served by one loop.
- `delivery_tally`: Counting what arrives of numbered messages: once, twice, never, or where nobody wants it.
- `live`: The live proof: a plan's fleet as real brokers on one machine, and messages that are counted.
- `processes`: Mosquitto processes on the loopback interface, in a folder of their own, that never outlive their
  owner.
"""
