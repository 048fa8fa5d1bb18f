"""Plans: what they hold, their files, and configurations that say the same."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from urllib.parse import unquote

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import fleet_of, plan_of, plan_over

from reference.interests import SHAPES, random_interest
from topicloom import InputError, Interest, Overlay, design
from topicloom.brokers import Plan, make_plan, read_plan, render, write_plan
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.lint import connect, lint, read_configured
from topicloom.brokers.names import identifier
from topicloom.brokers.plan_file import PICTURE, configurations, file_name

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)


def links_and_topics(plan: Plan) -> dict[frozenset[str], dict[str, int]]:
    return {
        frozenset(link): {route.topic: route.qos for route in routes} for link, routes in plan.routes_of_link.items()
    }


@given(seed=seeds, shape=shapes)
def test_a_plan_is_the_same_after_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, seed: int, shape: str
) -> None:
    plan = plan_of(random_interest(seed, shape))
    file = tmp_path_factory.mktemp("plan") / "plan.json"
    write_plan(plan, file)
    assert read_plan(file) == plan
    first = file.read_bytes()
    write_plan(read_plan(file), file)
    assert file.read_bytes() == first


@given(seed=seeds, shape=shapes)
def test_bridges_read_back_are_the_links_and_topics_of_the_plan(
    tmp_path_factory: pytest.TempPathFactory, seed: int, shape: str
) -> None:
    plan = plan_of(random_interest(seed, shape))
    folder = tmp_path_factory.mktemp("render") / "out"
    render(plan, folder)
    brokers = read_configured([folder])
    assert {broker.name for broker in brokers} == set(plan.broker)
    wires, outside = connect(brokers)
    assert not outside
    assert {(wire.local, wire.remote) for wire in wires} == set(plan.links)
    read = {
        frozenset((wire.local, wire.remote)): {
            rule.pattern: (rule.direction, rule.local_prefix, rule.remote_prefix) for rule in wire.bridge.rules
        }
        for wire in wires
    }
    assert {link: set(rules) for link, rules in read.items()} == {
        link: set(topics) for link, topics in links_and_topics(plan).items()
    }
    assert {rule for rules in read.values() for rule in rules.values()} <= {("both", "", "")}
    assert not lint(brokers).serious


@given(seed=seeds, shape=shapes)
def test_federation_read_back_is_the_trees_of_the_plan(seed: int, shape: str) -> None:
    plan = plan_of(random_interest(seed, shape), target="rabbitmq")
    pulls: dict[str, set[tuple[str, str]]] = {}
    for broker, text in configurations(plan).items():
        definitions = json.loads(text)
        sets = {
            row["name"]: row["value"]
            for row in definitions["parameters"]
            if row["component"] == "federation-upstream-set"
        }
        exchanges = {row["name"] for row in definitions["exchanges"]}
        for policy in definitions["policies"]:
            for member in sets[policy["definition"]["federation-upstream-set"]]:
                assert policy["pattern"] == f"^{member['exchange']}$", "names of these tests need no escapes"
                assert member["exchange"] in exchanges
                assert member["max-hops"] == plan.route[member["exchange"]].diameter
                upstream = unquote(member["upstream"].removeprefix("topicloom-"))
                pulls.setdefault(member["exchange"], set()).add((broker, upstream))
    for route in plan.routes:
        both_ways = {pair for link in route.links for pair in (link, link[::-1])}
        assert pulls.get(route.topic, set()) == both_ways


@given(seed=seeds, shape=shapes)
def test_depth_and_diameter_are_those_of_the_tree(seed: int, shape: str) -> None:
    for route in plan_of(random_interest(seed, shape)).routes:
        tree = nx.Graph(list(route.links))
        tree.add_node(route.root)
        assert route.diameter == nx.diameter(tree)
        assert route.depth == nx.eccentricity(tree, route.root)
        for link in route.links:
            cut = tree.copy()
            cut.remove_edge(*link)
            assert route.side(link) == nx.node_connected_component(cut, link[1])


def test_links_that_no_topic_needs_are_left_out() -> None:
    plan = plan_over([(name, "t") for name in "abc"], [("a", "b"), ("b", "c"), ("a", "c")])
    assert len(plan.links) == 2


def test_who_opens_a_link() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "ab"])
    overlay = Overlay.from_links(interest, [("a", "b")])
    brokers = {"a": {"host": "a"}, "b": {"host": "b"}}
    assert make_plan(interest, overlay, fleet_from_tables({"brokers": brokers})).links == (("a", "b"),)
    brokers["b"]["accepts"] = False  # type: ignore[assignment]
    deaf = fleet_from_tables({"brokers": brokers})
    assert make_plan(interest, overlay, deaf).links == (("b", "a"),)
    with pytest.raises(
        InputError, match=r"^fleet: broker 'b' accepts no connections, which federation needs both ways"
    ):
        make_plan(interest, overlay, deaf, target="rabbitmq")
    brokers["a"]["accepts"] = False  # type: ignore[assignment]
    with pytest.raises(
        InputError, match=r"^fleet: the overlay breaks a constraint: neither 'a' nor 'b' accepts connections$"
    ):
        make_plan(interest, overlay, fleet_from_tables({"brokers": brokers}))


def test_ports_and_qualities_of_service() -> None:
    interest = Interest.from_pairs([(name, topic) for name in "ab" for topic in ("t", "u")])
    fleet = fleet_from_tables(
        {
            "defaults": {"qos": 0},
            "brokers": {"a": {"host": "a", "tls": True}, "b": {"host": "b", "port": 7}},
            "topics": {"u": {"qos": 2}},
        }
    )
    overlay = design(interest, "gm")
    plan = make_plan(interest, overlay, fleet)
    assert [broker.port for broker in plan.brokers] == [8883, 7]
    assert [route.qos for route in plan.routes] == [0, 2]
    assert "topic t both 0\ntopic u both 2\n" in configurations(plan)["a"]
    assert [broker.port for broker in make_plan(interest, overlay, fleet, target="rabbitmq").brokers] == [5671, 7]


def test_what_does_not_fit_the_fleet_is_refused() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    overlay = design(interest, "gm")
    with pytest.raises(InputError, match=r"^fleet: has no broker 'b'; every node of the subscriptions needs one$"):
        make_plan(interest, overlay, fleet_of("a"))
    with pytest.raises(InputError, match=r"^unknown kind of broker 'x'; known are mosquitto, rabbitmq, nats, emqx$"):
        make_plan(interest, overlay, fleet_of("ab"), target="x")


SECRET = "s3cret #1 %"


def secret_plan(target: str, **credentials: str) -> Plan:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    tables = {
        "defaults": {
            "credentials": {"username": "bridge@x", **credentials},
            "tls": {"ca_file": "/etc/ca file.crt", "cert_file": "/c", "key_file": "/k"},
        },
        "brokers": {"a": {"host": "a.example.net"}, "b": {"host": "::1"}},
    }
    return make_plan(interest, design(interest, "gm"), fleet_from_tables(tables), target=target)


@pytest.mark.parametrize("target", ["mosquitto", "rabbitmq"])
def test_passwords_are_in_configurations_only(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGE_PASSWORD", SECRET)
    plan = secret_plan(target, password_env="BRIDGE_PASSWORD")
    write_plan(plan, tmp_path / "plan.json")
    assert "s3cret" not in (tmp_path / "plan.json").read_text()
    for path in render(read_plan(tmp_path / "plan.json"), tmp_path / "out"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert ("s3cret" in path.read_text()) <= (mode == 0o600), path
    text = (tmp_path / "out" / file_name(plan, "a")).read_text()
    if target == "mosquitto":
        assert f"remote_username bridge@x\nremote_password {SECRET}\nbridge_cafile /etc/ca file.crt\n" in text
        assert "address ::1:8883\n" in text
    else:
        uri = json.loads(text)["parameters"][0]["value"]["uri"]
        assert uri.startswith("amqps://bridge%40x:s3cret%20%231%20%25@[::1]:5671?verify=verify_peer&")
        assert "cacertfile=%2Fetc%2Fca+file.crt&certfile=%2Fc&keyfile=%2Fk" in uri
    assert "s3cret" not in (tmp_path / "out" / PICTURE).read_text()


def test_passwords_from_files(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{SECRET}\n")
    plan = secret_plan("mosquitto", password_file=str(tmp_path / "password"))
    assert f"remote_password {SECRET}\n" in configurations(plan)["a"]


@pytest.mark.parametrize("wrong", ["", "two\nlines", " spaces ", "tab\t", "nul\0"])
def test_passwords_that_no_line_can_hold(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(wrong)
    plan = secret_plan("mosquitto", password_file=str(tmp_path / "password"))
    with pytest.raises(InputError) as refused:
        render(plan, tmp_path / "out")
    assert str(refused.value) == (
        f"broker 'b': the password in the file {tmp_path}/password must be one line of printable characters "
        "without spaces around it"
    )
    assert not (tmp_path / "out").exists()


def test_missing_passwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    with pytest.raises(
        InputError, match=r"^broker 'b': the password should be in the variable NOWHERE, which is not set"
    ):
        configurations(secret_plan("mosquitto", password_env="NOWHERE"))
    with pytest.raises(InputError, match=r"which cannot be read \(No such file or directory\)$"):
        configurations(secret_plan("mosquitto", password_file=str(tmp_path / "none")))


def test_a_link_with_other_topics_begins_a_new_session() -> None:
    before = plan_over([("a", "t"), ("b", "t"), ("a", "u"), ("b", "u")], [("a", "b")])
    after = plan_over([("a", "t"), ("b", "t"), ("a", "v"), ("b", "v")], [("a", "b")])

    def session(plan: Plan) -> str:
        return next(line for line in configurations(plan)["a"].splitlines() if line.startswith("remote_clientid "))

    assert session(before) != session(after)
    assert session(before) == session(plan_over([("a", "u"), ("b", "u"), ("a", "t"), ("b", "t")], [("a", "b")]))


def damaged(plan: Plan, path: Path, **changes: object) -> Path:
    write_plan(plan, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def test_plans_that_do_not_hold_together_are_refused(tmp_path: Path) -> None:
    plan = plan_over([(name, "t") for name in "abc"], [("a", "b"), ("b", "c")])
    route = {"name": "t", "qos": 1, "root": "b", "subscribers": ["a", "b", "c"], "relays": []}
    tree = [["b", "a"], ["b", "c"]]
    brokers = [{"name": name, "host": "h", "port": 1} for name in "abc"]
    for changes, wrong in (
        ({"format": "other"}, "is not a plan; give a file that 'topicloom plan' wrote"),
        ({"target": "x"}, "unknown target 'x'; known are mosquitto, rabbitmq, nats, emqx, mixed"),
        (
            {"topics": [{**route, "links": tree[:1]}]},
            "topic 't': its tree does not hold exactly its subscribers, publishers and relays",
        ),
        (
            {"topics": [{**route, "links": tree[::-1], "root": "a"}]},
            "topic 't': its links are no tree from its root on",
        ),
        (
            {"topics": [{**route, "links": [*tree, ["a", "c"]]}]},
            "topic 't': goes over 'a' - 'c', which is no link of the plan",
        ),
        (
            {"topics": [{**route, "links": [["b", "c"], ["a", "b"]], "root": "a"}]},
            "topic 't': its links are no tree from its root on",
        ),
        ({"topics": [{**route, "links": [*tree, ["c", "b"]]}]}, "topic 't': its links are no tree from its root on"),
        *(
            (
                {"topics": [{**route, "links": tree, "qos": qos}]},
                f"'topics', number 1: 'qos' is {shown}; it should be {right}",
            )
            for qos, shown, right in (
                (3, "3", "at most 2"),
                (-1, "-1", "at least 0"),
                (1.9, "1.9", "a whole number"),
                (True, "true", "a whole number"),
                (float("inf"), "Infinity", "a whole number"),
            )
        ),
        ({"topics": [{**route, "links": tree, "qos": 10**4000}]}, None),
        ({"topics": [{**route, "links": tree, "root": "\ud800"}]}, None),
        ({"made": {"a": "\ud800"}}, None),
        ({"topics": [{**route, "links": tree, "name": ""}]}, "topic '': is empty; every topic needs a name"),
        (
            {"topics": [{**route, "links": tree, "subscribers": ["a", "b", "c", "z"]}]},
            "topic 't': 'z' is no broker of the plan",
        ),
        (
            {"topics": [{**route, "links": [], "subscribers": ["z"], "root": "z"}]},
            "topic 't': 'z' is no broker of the plan",
        ),
        (
            {"links": [["a", "b"], ["b", "c"], ["a", "c"]]},
            "no topic goes over the link 'a' - 'c'; remove it",
        ),
        (
            {"brokers": [{"name": name, "host": "h"} for name in "abc"]},
            "broker 'a': has no port; give a whole number from 1 to 65535",
        ),
        (
            {"brokers": [{**broker, "accepts": False} for broker in brokers]},
            "neither 'a' nor 'b' accepts connections, but they are linked",
        ),
        (
            {"brokers": [brokers[0], {**brokers[1], "accepts": False}, brokers[2]]},
            "'a' opens a link to 'b', which accepts no connections",
        ),
        (
            {"brokers": [{**brokers[0], "accepts": False}, *brokers[1:]], "target": "rabbitmq"},
            "broker 'a' accepts no connections, which federation needs both ways",
        ),
        ({"brokers": [{"host": "h"}]}, "a broker has no name; every broker needs one"),
        ({"topics": [{**route, "links": tree}] * 2}, "names a broker or a topic twice"),
        ({"topics": [{**route, "links": tree, "name": "x\ny"}]}, None),
        ({"links": [["a", "b"], ["b", "a"], ["b", "c"]]}, "its links must each join two brokers, once"),
        ({"links": [["a", "z"]]}, "its links must each join two brokers, once"),
        ({"brokers": [*brokers, brokers[0]]}, "names a broker or a topic twice"),
        ({"brokers": [{"name": "a"}]}, "broker 'a': has no host; give its name or address"),
        ({"brokers": [{**brokers[0], "host": "h\nconnection x"}]}, None),
        ({"brokers": 3}, None),
        ({"topics": [{"name": "t"}]}, "'topics', number 1: has no 'qos'"),
    ):
        file = damaged(plan, tmp_path / "plan.json", **changes)
        with pytest.raises(InputError) as refused:
            read_plan(file)
        assert "\n" not in str(refused.value).replace("x\ny", "")
        if wrong is not None:
            assert str(refused.value) == f"{file}: {wrong}"


def test_files_that_are_no_plans(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    for content in (b"", b"[1, 2", b"\xff", b"[" * 100_000, b"3"):
        file.write_bytes(content)
        with pytest.raises(InputError, match=f"^{file}: "):
            read_plan(file)


def test_pictures_name_everybody() -> None:
    plan = plan_over([("a", "t"), ("c", "t"), ("b", "u")], [("a", "b"), ("b", "c")], relays=True)
    assert configurations(plan).keys() == {"a", "b", "c"}
    from topicloom.brokers.plan_file import picture_of

    picture = picture_of(plan)
    assert '"b" [label="b\\nwants 1, relays 1"];' in picture
    assert '"a" -> "b" [label=1, penwidth=1.0];' in picture


def test_identifiers_are_distinct_and_plain() -> None:
    names = ["a", "A", "a b", "a%20b", "a-b", "-a", ".a", "..", "/", "é", "x" * 81, "x" * 82, "~", "a~"]
    found = [identifier(name) for name in names]
    assert len(set(found)) == len(names)
    assert found[:4] == ["a", "A", "a%20b", "a%2520b"]
    assert all(len(one) <= 80 and one.isascii() and one[0] not in ".-" for one in found)
