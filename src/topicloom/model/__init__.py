"""What is planned: interests and overlays.

- `interest`: who wants what, immutable, in both directions. `fingerprint`: one number for a set of subscriptions.
- `roles`: who wants and who publishes what within a topic; filters that overlap are one topic.
- `filters`: wildcards of MQTT, NATS and AMQP.
- `overlay`: links in the order in which they were added. `graph`: links as rows of neighbours.
- `constraints`: which links may be built, and which stay. `prices`: what links cost. `rates`: messages of topics.
- `events`: joins, leaves and changes. `demand`: who wants and publishes what, and the events between two demands.
- `fleet`: brokers, their links and limits, and who wants what.
- `provenance`: where a result comes from.
"""

from topicloom.errors import InputError
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance
from topicloom.model.rates import Rates

__all__ = ["Constraints", "InputError", "Interest", "NodeRule", "Overlay", "Prices", "Provenance", "Rates"]
