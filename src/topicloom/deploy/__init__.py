"""From an overlay to running brokers: loop-free routes, plans, configurations, and a proof with real brokers.

- `planning`: the fleet file, a tree for each topic, the plan and its file; what changes between two plans, and why
  something is in one.
- `changes`: from one plan to another, step by step.
- `targets`: configurations for Mosquitto and RabbitMQ.
- `linting`: what is wrong with bridges as people wrote them.
- `existing`: the links that configurations already make.
- `proof`: a plan run with real brokers, and its messages counted.
"""

from topicloom.deploy.planning.fleet_file import Broker, Fleet
from topicloom.deploy.planning.make_plan import make_plan
from topicloom.deploy.planning.plan import Plan, Route
from topicloom.deploy.planning.plan_file import read_plan, write_plan
from topicloom.deploy.planning.routes import BrokenTopicsError, Routes, route
from topicloom.deploy.targets.render import render

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
