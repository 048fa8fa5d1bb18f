"""Configurations for brokers: one module a target.

- `fleet_drawing`: The fleet as a picture for Graphviz.
- `mosquitto`: Bridge configurations for Mosquitto.
- `mosquitto_conf`: Reading the bridges in Mosquitto configurations as people write them.
- `nats`: Leafnode remotes for NATS servers.
- `rabbitmq`: Definitions for RabbitMQ: every topic is an exchange, federated along its tree.
- `rabbitmq_management`: RabbitMQ's management interface, which takes definitions live: no file, no restart.
- `render`: Configuration files from a plan: one for each broker, and a picture of the fleet.
- `secrets`: Passwords, looked up where a fleet file says they are, at the moment a configuration is written.
"""
