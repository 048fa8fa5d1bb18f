"""Sections about fleets: who wants what, and the overlays designed for it.

- `comparison_section`: The section that sets several overlays of a fleet side by side.
- `design_section`: The section of one overlay.
- `fleet_results`: Fleets from files: subscriptions, and the overlays over them, measured.
- `fleet_section`: The section of a fleet: who wants what, and what was planned for it.
- `plan_section`: The section of a plan: who connects to whom, and which topics go over each link.
- `topics_section`: The section of a table of topics, as `topicloom measure` and `topicloom evaluate` write it when
  asked for topics.
- `worst_topics`: What the measures of all topics come to: the worst of them, and their diameters.
"""
