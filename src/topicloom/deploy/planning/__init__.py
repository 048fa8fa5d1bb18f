"""Plans: a tree for each topic, who connects to whom, what changes and why.

- `broker_names`: What names a broker can carry, and how names become identifiers.
- `delivery`: How a file gets to a broker, as a fleet file says it.
- `diff`: What changes between two plans, and in which order to apply it.
- `explain`: Why something is in a plan, what it carries, and what breaks without it.
- `fleet_file`: The fleet file: where each broker is and how to log in there.
- `flows`: What goes over the links of a topic's tree, in each direction.
- `logins`: How to log in somewhere, as a fleet file says it: the password is named, never held.
- `make_plan`: From subscriptions, an overlay and a fleet to a plan.
- `patterns`: MQTT patterns: what two of them share.
- `plan`: A plan: which broker connects to which, and along which tree each topic goes.
- `plan_costs`: What a plan costs: links, ways and messages.
- `plan_file`: Plans as JSON files: one broker, link or topic a line, so that version control shows what changed.
- `routes`: A tree for every topic, over the links of an overlay.
- `source_settings`: How to ask a broker who subscribes and publishes what.
- `topic_families`: Topics of two plans that have messages in common.
"""
