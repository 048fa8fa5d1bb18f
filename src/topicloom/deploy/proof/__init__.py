"""A plan's fleet as real brokers on this machine, and messages that are counted.

- `bridge_sessions`: Sessions of bridges, made ready before their bridge comes and forgotten when it does not come back.
- `changing_fleets`: Fleets of each kind that go over to another plan broker by broker.
- `change_tally`: Counting what a change does to messages that flow while it happens.
- `clients`: MQTT clients, one at every broker of a fleet, served by one loop.
- `delivery_tally`: Counting what arrives of numbered messages: once, twice, never, or where nobody wants it.
- `lasting_clients`: MQTT clients that come back when their broker does, and find what came meanwhile.
- `live`: The live proof: a plan's fleet as real brokers on one machine, and messages that are counted.
- `live_change`: A running fleet moved from one plan to another while messages flow, and what that does to them.
- `loopback_ports`: Ports on loopback for brokers, which no other process that looks for some gets too.
- `nats_fleet`: NATS servers on the loopback interface, and a client at each.
- `rabbitmq_fleet`: RabbitMQ nodes on the loopback interface, and a queue at each.
- `processes`: Mosquitto processes on the loopback interface, in a folder of their own, that never outlive their
  owner.
"""
