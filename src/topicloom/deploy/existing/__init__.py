"""The bridges that a fleet has, read from its configurations, as links to measure, compare, keep and improve.

- `configured_files`: Which files a fleet's configurations are, and whose each of them is.
- `existing_links`: The links of a fleet from its configurations, of whatever kind.
- `nats_conf`: The leaf nodes in configurations of NATS.
- `nats_syntax`: Configurations of NATS as tables and lists.
- `rabbitmq_definitions`: Federation in files of definitions of RabbitMQ.
"""
