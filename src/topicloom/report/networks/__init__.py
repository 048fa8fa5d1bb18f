"""Networks to point at: what is drawn of an overlay, and what is answered when something in it is clicked.

- `network_answers`: What is told of a topic, a node, a link or a group of nodes when it is clicked.
- `overlay_drawing`: What is drawn of an overlay: all nodes, or groups where they are too many.
- `planned_overlay`: A plan as an overlay: who is linked, and who wants what.
"""
