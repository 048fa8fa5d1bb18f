"""Plans with filters and roles: followed through the rendered files, and with real brokers."""

from __future__ import annotations

import json
import random
from pathlib import Path

import networkx
import pytest
from plans import fleet_of, plan_of

from topicloom import InputError, Interest, Overlay, design
from topicloom.brokers import BrokenTopicsError, Plan, make_plan, read_plan, write_plan
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.lint import Arrival, Wire, connect, lint, onward, read_configured
from topicloom.brokers.live import plan_without, prove
from topicloom.brokers.plan_file import configurations
from topicloom.model import Prices
from topicloom.model.filters import MQTT

Row = tuple[str, str, str]


def random_rows(seed: int) -> list[Row]:
    """A fleet whose brokers want filters that overlap in many ways; some only publish."""
    dice = random.Random(seed)
    levels = ["a", "b", "c", "+"]
    rows = []
    for number in range(dice.randint(3, 9)):
        for _ in range(dice.randint(1, 3)):
            filter_ = "/".join([dice.choice(levels) for _ in range(dice.randint(1, 3))] + dice.choice([[], [], ["#"]]))
            rows.append((f"n{number}", filter_, "sub"))
        if dice.random() < 0.6:
            name = "/".join(dice.choice("abc") for _ in range(dice.randint(1, 3)))
            rows.append((f"n{number}", name, dice.choice(["pub", "both"])))
    return rows


def wires_of(plan: Plan, folder: Path) -> dict[str, list[Wire]]:
    """The bridges as the rendered files say, each broker at an address of its own."""
    folder.mkdir()
    for name, text in configurations(plan).items():
        own = plan.broker[name]
        (folder / f"{name}.conf").write_text(f"listener {own.port} {own.host}\n{text}")
    wires, outside = connect(read_configured([folder]))
    assert outside == []
    found: dict[str, list[Wire]] = {broker.name: [] for broker in plan.brokers}
    for wire in wires:
        found[wire.local].append(wire)
        found[wire.remote].append(wire)
    return found


def constrained_plan(interest: Interest, seed: int) -> Plan | None:
    """A plan for brokers with limits, of which some accept no connections and some may not be linked."""
    dice = random.Random(f"fleet {seed}")
    brokers = {
        name: {
            "host": f"host{number}",
            "accepts": dice.random() < 0.8,
            "region": dice.choice("xyz"),
            "max_links": dice.randint(2, 6),
        }
        for number, name in enumerate(interest.node_names)
    }
    brokers["elsewhere"] = {"host": "elsewhere", "region": "x"}
    brokers["nowhere"] = {"host": "nowhere", "region": "y"}
    fleet = fleet_from_tables({"brokers": brokers, "forbid": [{"regions": ["x", "y"]}]})
    overlay = design(interest, dice.choice(["gm", "low-oda", "backbone"]), constraints=fleet.constraints)
    for first, second in overlay:
        assert {brokers[first]["region"], brokers[second]["region"]} != {"x", "y"}
        assert brokers[first]["accepts"] or brokers[second]["accepts"]
    for name, degree in zip(interest.node_names, overlay.degrees.tolist(), strict=True):
        assert degree <= brokers[name]["max_links"]
    try:
        return make_plan(interest, overlay, fleet)
    except BrokenTopicsError:
        return None  # the constraints leave a topic in pieces


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 240, 40))
@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
def test_every_message_reaches_whoever_wants_it_once(tmp_path: Path, first: int, constrained: bool) -> None:
    delivered = 0
    for seed in range(first, first + 40):
        rows = random_rows(seed)
        interest = Interest.from_roles(rows, filters="mqtt")
        plan = constrained_plan(interest, seed) if constrained else plan_of(interest)
        if plan is None:
            continue
        wires = wires_of(plan, tmp_path / str(seed))
        # What is published under a name of its own; filters that nobody publishes, their subscribers publish.
        names = {(node, topic) for node, topic, role in rows if role != "sub"}
        for node, name in sorted(names):
            wanting = {other for other, filter_, role in rows if role != "pub" and MQTT.covers(filter_, name)}
            arrivals = follow(Arrival(node, name), wires)
            reached = [arrival.broker for arrival in arrivals]
            assert len(set(reached)) == len(reached), (seed, node, name)
            assert wanting <= set(reached), (seed, node, name)
            # Nobody is at the end of a way who does not want it.
            passing = {_sender(arrival) for arrival in arrivals}
            assert set(reached) - passing <= wanting | {node}, (seed, node, name)
            delivered += len(wanting)
    assert delivered > 50


def follow(published: Arrival, wires: dict[str, list[Wire]]) -> list[Arrival]:
    """All arrivals of a message, as brokers pass it on by their files; not more than a loop would need to show."""
    arrivals = [published]
    for arrival in arrivals:
        if len(arrivals) < 100:
            arrivals += [following for following, _ in onward(arrival, wires)]
    return arrivals


def _sender(arrival: Arrival) -> str | None:
    wire = arrival.wire
    return None if wire is None else wire.local if arrival.broker == wire.remote else wire.remote


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_no_message_ever_goes_in_circles_while_filters_come_and_go(first: int) -> None:
    """Topics merge, split and get other names with them; every message is looked at after every step."""
    merged = 0
    for seed in range(first, first + 20):
        rows = random_rows(seed)
        later = [row for place, row in enumerate(rows) if place % 4 != seed % 4] + [("n0", "+/#", "sub")] * (seed % 2)
        old, new = (
            plan_of(Interest.from_roles(each, filters="mqtt")) for each in (rows, later)[:: 1 - 2 * (seed % 3 > 0)]
        )
        merged += old.route.keys() != new.route.keys()
        names = {message.name for plan in (old, new) for route in plan.routes for message in route.messages}
        files: dict[str, Plan | None] = dict.fromkeys(old.broker, old)
        for step in compare_plans(old, new).steps:
            files[step.broker] = None if step.clear else new
            for name in names:
                carrying = [
                    link
                    for plan in (old, new)
                    for link, lines in plan.lines_of_link.items()
                    if files.get(link[0]) is plan and any(MQTT.covers(line.pattern, name) for line in lines)
                ]
                assert not carrying or networkx.is_forest(networkx.MultiGraph(carrying)), (seed, name)
    assert merged


def test_links_carry_one_direction_to_and_from_publishers() -> None:
    rows = [("hub", "t", "sub"), ("leaf", "t", "sub"), ("sensor", "t", "pub")]
    interest = Interest.from_roles(rows)
    overlay = Overlay.from_links(interest, [("hub", "leaf"), ("hub", "sensor")])
    plan = make_plan(interest, overlay, fleet_of(interest.node_names))
    text = configurations(plan)["hub"]
    assert text.count("topic t out 1") == 1
    assert text.count("topic t in 1") == 1
    assert "both" not in text
    rabbit = make_plan(interest, overlay, fleet_of(interest.node_names), target="rabbitmq")
    definitions = configurations(rabbit)
    assert '"upstream": "topicloom-sensor"' in definitions["hub"]
    assert "federation-upstream" not in definitions["sensor"]


def test_trees_by_price_are_the_cheapest() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "abc"])
    overlay = Overlay.from_links(interest, [("a", "b"), ("a", "c"), ("b", "c")])
    prices = Prices({("a", "b"): 9, ("a", "c"): 1, ("b", "c"): 2})
    plan = make_plan(interest, overlay, fleet_of("abc"), prices=prices)
    assert sorted(plan.links) == [("a", "c"), ("b", "c")]
    with pytest.raises(InputError, match=r"^trees by price take no relays"):
        make_plan(interest, overlay, fleet_of("abc"), prices=prices, relays=True)


def test_plans_with_filters_are_read_back(tmp_path: Path) -> None:
    plan = plan_of(Interest.from_roles(random_rows(3), filters="mqtt"))
    write_plan(plan, tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json")
    assert configurations(again) == configurations(plan)
    assert not compare_plans(plan, again).links
    text = (tmp_path / "plan.json").read_text()
    (tmp_path / "bad.json").write_text(text.replace('"filters": "mqtt"', '"filters": "nats"'))
    with pytest.raises(
        InputError,
        match="plans with filters are for mosquitto with mqtt, rabbitmq with amqp, nats with nats and emqx with mqtt",
    ):
        read_plan(tmp_path / "bad.json")


def test_a_broker_that_only_publishes_makes_another_plan() -> None:
    rows = [("a", "t", "both"), ("b", "t", "both")]
    both, one = (
        make_plan(interest, design(interest, "gm"), fleet_of("ab"))
        for interest in (Interest.from_roles(rows), Interest.from_roles([rows[0], ("b", "t", "pub")]))
    )
    difference = compare_plans(both, one)
    assert [change.kind for change in difference.links] == ["change"]
    assert [step.broker for step in difference.steps] == ["a"]


def test_every_target_has_filters_of_its_own() -> None:
    interest = Interest.from_roles([("a", "x.*", "sub"), ("b", "x.y", "pub")], filters="nats")
    known = "mosquitto with mqtt, rabbitmq with amqp, nats with nats and emqx with mqtt"
    for target in ("mosquitto", "rabbitmq"):
        with pytest.raises(InputError, match=f"^plans with filters are for {known}, not for {target} with nats$"):
            make_plan(interest, design(interest, "gm"), fleet_of("ab"), target=target)


def test_filters_of_amqp_are_bound_to_topic_exchanges(tmp_path: Path) -> None:
    rows = [("a", "x.#", "sub"), ("b", "x.*.t", "sub"), ("c", "x.1.t", "pub"), ("c", "y", "both"), ("a", "y", "both")]
    interest = Interest.from_roles(rows, filters="amqp")
    plan = make_plan(interest, design(interest, "gm"), fleet_of("abc"), target="rabbitmq")
    write_plan(plan, tmp_path / "plan.json")
    definitions = json.loads(configurations(read_plan(tmp_path / "plan.json"))["c"])
    assert {row["name"]: row["type"] for row in definitions["exchanges"]} == {"x.#": "topic", "y": "topic"}
    assert [row["name"] for row in definitions["policies"]] == ["topicloom-y"]
    long = Interest.from_roles([("a", "x." + "y" * 300, "both"), ("b", "x.#", "both")], filters="amqp")
    with pytest.raises(InputError, match="has 302 bytes; the name of a routing key may have 255"):
        make_plan(long, design(long, "gm"), fleet_of("ab"), target="rabbitmq")


def test_lint_follows_publishers_and_filters(tmp_path: Path) -> None:
    interest = Interest.from_roles([("a", "s/#", "sub"), ("b", "s/1", "pub"), ("c", "s/+", "sub")], filters="mqtt")
    plan = plan_of(interest)
    wires_of(plan, tmp_path / "whole")
    assert lint(read_configured([tmp_path / "whole"]), interest).findings == ()
    for file in (tmp_path / "whole").iterdir():
        file.write_text(file.read_text().replace("topic s/# ", "topic s/2 ").replace("topic s/+ ", "topic s/2 "))
    findings = lint(read_configured([tmp_path / "whole"]), interest).findings
    assert ("unreachable", "s/1") in {(finding.kind, finding.topic) for finding in findings}


def test_going_on_without_a_broker_keeps_roles_and_filters() -> None:
    plan = plan_of(Interest.from_roles(random_rows(5), filters="mqtt"))
    gone = plan.brokers[0].name
    after = plan_without(plan, gone)
    assert gone not in after.broker
    for route in after.routes:
        before = [old for old in plan.routes if set(old.members) & set(route.members) and old.filters]
        assert any(set(route.sides[0]) <= set(old.sides[0]) for old in before)


def test_what_only_the_gone_broker_published_is_silent_and_not_taken_to_be_published_by_others() -> None:
    rows = [("a", "t", "sub"), ("b", "t", "sub"), ("sensor", "t", "pub"), ("a", "u", "sub"), ("b", "u", "sub")]
    interest = Interest.from_roles(rows)
    plan = plan_of(interest)
    # Nobody is known to publish u: its subscribers do, and go on to.
    assert plan.route["u"].publishers == ("a", "b")
    after = plan_without(plan, "sensor")
    assert [route.topic for route in after.routes] == ["u"]
    assert after.route["u"].publishers == ("a", "b")
    assert list(after.broker) == ["a", "b"]


@pytest.mark.broker("mosquitto")
def test_real_brokers_deliver_what_filters_match() -> None:
    proof = prove(plan_of(Interest.from_roles(random_rows(11), filters="mqtt")), messages=60)
    assert proof.perfect
    assert proof.counts.delivered > 20
