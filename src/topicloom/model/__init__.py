"""What is planned: interests and overlays.

- `interest`: who wants what, immutable, in both directions.
- `overlay`: links in the order they were added, with their provenance. `overlay_picture`: how it is drawn.
- `events`: what happens to a fleet, as JSON Lines.
- `fingerprint`: one number for a set of subscriptions, whatever the order of its rows.
"""

from topicloom.errors import InputError
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay, Provenance

__all__ = ["InputError", "Interest", "Overlay", "Provenance"]
