"""What is planned: interests and overlays.

- `interest`: who wants what, immutable, in both directions.
- `roles`: who wants and who publishes what within a topic; filters that overlap are one topic.
- `filters`: wildcards of MQTT, NATS and AMQP. `filter_index`: which of many filters overlap.
- `filter_classes`: names that stand for all ways to match some filters.
- `overlay`: links in the order they were added. `overlay_picture`: how it is drawn.
- `provenance`: where a result comes from.
- `constraints`: which links may be built, and which stay.
- `prices`: what links cost. `rates`: how many messages topics have.
- `events`: what happens to a fleet, as JSON Lines. `interest_changes`: the events from one interest to another.
- `fingerprint`: one number for a set of subscriptions, whatever the order of its rows.
"""

from topicloom.errors import InputError
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance
from topicloom.model.rates import Rates

__all__ = ["Constraints", "InputError", "Interest", "NodeRule", "Overlay", "Prices", "Provenance", "Rates"]
