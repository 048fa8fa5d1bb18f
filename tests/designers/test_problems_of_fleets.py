"""A fleet as the problem of a designer: who wants what among the brokers that are there, within the fleet's limits."""

from __future__ import annotations

from dataclasses import replace

from topicloom import Constraints, Interest
from topicloom.designers import DesignProblem, run
from topicloom.model.constraints import NodeRule
from topicloom.model.demand import Demand
from topicloom.model.fleet import Broker, Fleet

INTEREST = Interest.from_pairs([(node, topic) for node in "abcd" for topic in ("x", "y")])
FLEET = Fleet({name: Broker(name, f"{name}.example") for name in "abcd"}, demand=Demand.from_interest(INTEREST))


def links(fleet: Fleet, designer: str = "gm", constraints: Constraints | None = None) -> list[tuple[str, str]]:
    return list(run(DesignProblem.of(fleet, constraints=constraints), designer).overlay)


def test_links_are_those_of_its_interest() -> None:
    assert links(FLEET) == list(run(DesignProblem.of(INTEREST), "gm").overlay)


def test_brokers_that_are_away_get_no_links() -> None:
    assert links(replace(FLEET, away=frozenset({"a"}))) == [("b", "c"), ("b", "d")]


def test_its_limits_hold_unless_others_are_given() -> None:
    fleet = replace(FLEET, constraints=Constraints(forbid=(("a", "b"),)))
    assert ("a", "b") not in links(fleet)
    assert ("a", "c") not in links(fleet, constraints=Constraints(forbid=(("a", "c"),)))


def test_without_limits_any_designer_takes_it() -> None:
    assert len(links(FLEET, "cd-oda")) == 3
    rules = Constraints(nodes={"a": NodeRule(region="north")})
    assert len(links(replace(FLEET, constraints=rules), "cd-oda")) == 3
