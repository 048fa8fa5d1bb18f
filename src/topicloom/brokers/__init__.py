"""Fleets of brokers: planned, taken from plan to plan, and kept connected.

- `fleet_file`: reads the fleet file into the values of `model.fleet`; secrets. `new_fleet`: a new one, for hosts.
  `logins`: secrets looked up. `names`: names as identifiers.
- `plan`: a tree for each topic, and the broker that opens each link; `flows`: what goes over a tree; `plan_file`: its
  file and the configurations; `explain`: the reason for each link. `diff`: safe steps from one plan to another, by
  `fingerprints` of configurations.
- `kind`: what differs between kinds of brokers.
- `kinds`: Mosquitto, RabbitMQ, NATS and EMQX: configurations written and read, brokers asked.
- `lint`: loops and duplicates in bridges as people wrote them.
- `collect`: who subscribes and publishes, asked of running brokers; `rows` and `log_files` are what it reads.
- `apply`: a running fleet brought to a plan by `moves`, whose steps `store` keeps; `foreign` follows bridges that are
  not in the plan, `deliver` takes files to brokers and checks them, `bridge_sessions` keeps messages while links move.
- `check`: what stands in the way of that; `dial` connects to brokers and logs in.
- `adopt`: bridges that people made, taken over by a first plan.
- `present`: what brokers have, read back, and how it differs from a plan; `status` shows it.
- `watch`: a fleet kept connected; `decisions`, `feed` and `health` are what it goes by.
- `live`, `live_change`: a plan run on loopback, every message counted; `local` starts brokers and clients.
"""

from __future__ import annotations

from topicloom.brokers.collect import Collected, Collection, Look, collect, fleet_changes, interest_of
from topicloom.brokers.fleet_file import fleet_from_tables, read_fleet
from topicloom.brokers.plan import Plan, Route, make_plan
from topicloom.brokers.plan_file import read_plan, render, write_plan
from topicloom.metrics.trees import BrokenTopicsError, Trees, route
from topicloom.model.fleet import Broker, Fleet

__all__ = [
    "BrokenTopicsError",
    "Broker",
    "Collected",
    "Collection",
    "Fleet",
    "Look",
    "Plan",
    "Route",
    "Trees",
    "collect",
    "fleet_changes",
    "fleet_from_tables",
    "interest_of",
    "make_plan",
    "read_fleet",
    "read_plan",
    "render",
    "route",
    "write_plan",
]
