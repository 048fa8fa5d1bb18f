"""From an overlay to running brokers: loop-free routes, plans, configurations, and a proof with real brokers.

- `routes`: for every topic a tree over the links of an overlay, through relays where they are allowed.
- `names`: which names a target can carry, and how names become identifiers. `fleet`: where brokers are.
- `plan`: who connects to whom and which topics go where. `planning` makes one, `plan_file` reads and writes it.
- Targets: `mosquitto`, `rabbitmq`; `render` writes their files, `picture` draws the fleet, `secrets` finds passwords.
- About plans: `diff` compares two, with the order to apply them in; `explain` says what a part is for.
- `lint`: what is wrong with bridges as people wrote them. `mosquitto_conf` reads them, `propagation` follows messages
  through them, `patterns` knows what patterns match.
- The live proof: `live` runs a plan, with `processes` (brokers), `clients` (MQTT) and `tally` (what arrived).
"""

from topicloom.deploy.fleet import Broker, Fleet
from topicloom.deploy.plan import Plan, Route
from topicloom.deploy.plan_file import read_plan, write_plan
from topicloom.deploy.planning import make_plan
from topicloom.deploy.render import render
from topicloom.deploy.routes import BrokenTopicsError, Routes, route

__all__ = [
    "BrokenTopicsError",
    "Broker",
    "Fleet",
    "Plan",
    "Route",
    "Routes",
    "make_plan",
    "read_plan",
    "render",
    "route",
    "write_plan",
]
