"""What is planned: interests and overlays.

- `interest`: who wants what, immutable, in both directions.
- `roles`: who wants and who publishes what within a topic; filters that overlap are one topic.
- `filters`: wildcards of MQTT, NATS and AMQP. `filter_index`: which of many filters overlap.
- `overlay`: links in the order they were added. `provenance`: where a result comes from. `overlay_picture`: how it is drawn.
- `constraints`: which links may be built, and which stay.
- `prices`: what links cost.
- `events`: what happens to a fleet, as JSON Lines.
- `fingerprint`: one number for a set of subscriptions, whatever the order of its rows.
"""

from topicloom.errors import InputError
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance

__all__ = ["Constraints", "InputError", "Interest", "NodeRule", "Overlay", "Prices", "Provenance"]
