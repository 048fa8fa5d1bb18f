"""From one plan to another: what every topic leaves and takes up, and in which order brokers follow.

- `plan_steps`: The order in which brokers get the files of a new plan, and which topics are interrupted on the way.
- `topic_ways`: The ways of topics in two plans beside each other.
"""
