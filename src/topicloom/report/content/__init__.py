"""Sections about content-based networks.

- `cost_section`: The section of what content-based plans cost.
- `network_results`: Content-based networks and the assignments for them, from files.
- `network_section`: The section of a content-based network and the assignments of its users to brokers.
- `trees_section`: The section of core trees, as `topicloom content cost` writes them when asked for
  trees.
"""
