"""A running fleet brought from the plan it has to another one.

- `apply`: the steps of a move, done one after the other on real brokers.
- `broker_checks`: whether a broker answers, its links are up, and messages come through.
- `fleet_state`: what is known of a fleet, in a folder that survives whatever ends the process.
- `foreign_bridges`: bridges that belong to none of its plans, and what repeats where a plan meets them.
- `message_keeping`: messages kept by brokers while their links change.
- `moves`: a move from plan to plan, step by step, and back by the same steps.
"""
