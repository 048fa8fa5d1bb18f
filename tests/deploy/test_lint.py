"""Lint: what it finds in fleets as people write them, and what real brokers do with the same files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lint_fleets import FLEETS, FOR_EVER, bridge
from naive_fleets import NaiveFleets

from topicloom import InputError, Interest
from topicloom.deploy.linting.lint import LintReport, lint
from topicloom.deploy.planning.patterns import closure, example, shared
from topicloom.deploy.targets.mosquitto_conf import read_brokers
from topicloom.model.filters import MQTT


def report_of(folder: Path, bridges: dict[str, str], interest: Interest | None = None) -> LintReport:
    for name, text in bridges.items():
        (folder / f"{name}.conf").write_text(text)
    return lint(read_brokers([folder]), interest)


@pytest.mark.parametrize("name", FLEETS)
def test_known_fleets(name: str, tmp_path: Path) -> None:
    fleet = FLEETS[name]
    report = report_of(tmp_path, fleet.bridges)
    assert {finding.kind for finding in report.findings} == fleet.kinds
    assert report.serious == bool(fleet.kinds & {"loop", "duplicate"})


@pytest.fixture(scope="module")
def running() -> Iterator[NaiveFleets]:
    with NaiveFleets({name: fleet.bridges for name, fleet in FLEETS.items()}) as fleets:
        yield fleets


@pytest.mark.broker("mosquitto")
@pytest.mark.parametrize("name", FLEETS)
def test_real_brokers_do_what_lint_says(name: str, running: NaiveFleets) -> None:
    fleet = FLEETS[name]
    found = running.arrivals(name, *fleet.published)
    if "loop" in fleet.kinds:
        assert found.total() > FOR_EVER * len(fleet.bridges)
        assert all(found[place] >= FOR_EVER for place in fleet.copies)
    else:
        assert dict(found) == fleet.copies
        assert (max(found.values()) > 1) == ("duplicate" in fleet.kinds)


def test_findings_say_the_way_and_the_lines(tmp_path: Path) -> None:
    report = report_of(tmp_path, FLEETS["triangle"].bridges)
    (finding,) = report.findings
    assert finding.text == "'#' published at a goes round for ever: b -> c -> a -> b"
    assert finding.where == tuple(f"{tmp_path}/{name}.conf:1" for name in "abc")
    report = report_of(tmp_path, FLEETS["names that grow"].bridges | {"c": ""})
    text = next(finding.text for finding in report.findings if finding.kind == "loop")
    assert text == (
        "'#' published at a goes round for ever: b -> a -> b, its name growing from 'a/a/any' to 'a/a/a/any'"
    )


def test_twice_names_both_ways(tmp_path: Path) -> None:
    report = report_of(tmp_path, FLEETS["two ways round a square"].bridges)
    (finding,) = report.findings
    assert finding.text == "'t' published at a arrives twice at c: a -> b -> c, and a -> d -> c"


def test_subscribers_that_are_not_reached_and_topics_nobody_wants(tmp_path: Path) -> None:
    bridges = {"a": bridge("b", "t out 1", "u both 1"), "b": bridge("c", "u both 1"), "c": ""}
    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("a", "u"), ("b", "u"), ("c", "v")])
    report = report_of(tmp_path, bridges, interest)
    assert [(finding.kind, finding.text) for finding in report.findings] == [
        ("unreachable", "'t' published at b does not reach a"),
        ("unwanted", "'u' is bridged to c, where and behind which nobody wants it"),
    ]
    assert report.findings[1].where == (f"{tmp_path}/b.conf:3",)
    assert (report.brokers, report.bridges, report.tree_links) == (3, 2, 2)


def test_bridges_that_lead_outside(tmp_path: Path) -> None:
    report = report_of(tmp_path, {"a": bridge("elsewhere", "t out 1")})
    (finding,) = report.findings
    assert finding.text == "a is bridged to elsewhere:1883, which is none of the given brokers"
    assert not report.serious


def test_brokers_are_found_by_address_name_and_port(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text("listener 1884\nconnection x\naddress localhost:1885\ntopic t both\n")
    (tmp_path / "b.conf").write_text("port 1885\nconnection x\naddress 10.0.0.3:1883\ntopic t both\n")
    (tmp_path / "c.conf").write_text("listener 1883 10.0.0.3\nconnection x\naddress a.example.net\ntopic t both\n")
    report = lint(read_brokers([tmp_path]))
    assert [finding.kind for finding in report.findings] == ["loop"]


def test_patterns_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text('connection x\naddress b\ntopic "two words/#" in 1 "" r/\ntopic "" both 0 l r\n')
    ((broker,),) = (read_brokers([tmp_path]),)
    rules = [
        (rule.pattern, rule.direction, rule.local_pattern, rule.remote_pattern) for rule in broker.bridges[0].rules
    ]
    assert rules == [("two words/#", "in", "two words/#", "r/two words/#"), ("", "both", "l", "r")]


def test_folders_and_included_folders(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        folder = tmp_path / name / "conf.d"
        folder.mkdir(parents=True)
        (tmp_path / name / "mosquitto.conf").write_text(
            "# main\nallow_anonymous true\n\ninclude_dir /etc/mosquitto/conf.d\n"
        )
        (folder / "10.conf").write_text(f"connection out\naddress {other}\n")
        (folder / "not-read.txt").write_text("nonsense")
        (folder / "20.conf").write_text("topic t both 1\n")
    assert [finding.kind for finding in lint(read_brokers([tmp_path])).findings] == ["loop", "both-ends"]
    one = read_brokers([tmp_path / "a"])
    assert [(broker.name, len(broker.bridges[0].rules)) for broker in one] == [("a", 1)]
    assert read_brokers([tmp_path / "a" / "mosquitto.conf"]) == one


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("topic t out", ":1: 'topic' comes before any 'connection'; begin the bridge with 'connection NAME'"),
        ("connection x\ntopic t out", ":1: connection 'x' has no address; give 'address HOST:PORT'"),
        ("connection x\naddress b\ntopic", ":3: 'topic' has no pattern; give one, such as 'topic sensors/# out 1'"),
        ("connection x\naddress b\ntopic t sideways", ":3: direction 'sideways' is none of out, in, both"),
        ("connection x\naddress b\ntopic t out 3", ":3: QoS '3' is none of 0, 1, 2"),
        ("connection x\naddress u:pw@b", ":1: the port of 'x' is no whole number; give 'address HOST:PORT'"),
        ("listener", ":1: '' is no port; give a whole number"),
        (
            "connection x\naddress b\ntopic t out 1 a b c",
            ":3: 'c' is too much; a topic has a pattern, direction, QoS and two prefixes",
        ),
        (
            "connection x\naddress b\ntopic a#/b out",
            ":3: 'a#/b' is no pattern; '+' stands for a whole level, '#' for all that follow",
        ),
        (
            "include_dir /none/such",
            ":1: the folder /none/such is neither there nor beside the file; copy it beside the file",
        ),
    ],
)
def test_configurations_that_mosquitto_would_refuse(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "a.conf"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        read_brokers([file])
    assert str(refused.value) == f"{file}{wrong}"


def test_paths_without_configurations(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file or folder$"):
        read_brokers([tmp_path / "none"])
    with pytest.raises(InputError, match=r"has no \.conf files; give configurations of Mosquitto$"):
        read_brokers([tmp_path])
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.conf").touch()
    with pytest.raises(InputError, match=r"^two configurations are both of broker 'a'"):
        read_brokers([tmp_path / "x", tmp_path / "y"])
    (tmp_path / "x" / "a.conf").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"cannot be read \(it is not UTF-8\)$"):
        read_brokers([tmp_path / "x"])


def test_folders_that_include_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "a.conf").write_text(f"include_dir {folder}\n")
    with pytest.raises(InputError, match=r"which includes this file$"):
        read_brokers([folder / "a.conf"])


levels = st.sampled_from(["a", "b", "+", ""])
patterns = st.builds(
    lambda first, rest: "/".join([*first, *rest]),
    st.lists(levels, min_size=1, max_size=3),
    st.sampled_from([[], ["#"]]),
)
names = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=4).map("/".join)


@given(one=patterns, other=patterns, name=names)
def test_what_two_patterns_share_is_what_both_match(one: str, other: str, name: str) -> None:
    both = shared(one, other)
    assert (both is not None and MQTT.covers(both, name)) == (MQTT.covers(one, name) and MQTT.covers(other, name))
    assert shared(other, one) == both


@given(several=st.lists(patterns, min_size=1, max_size=4), name=names)
def test_examples_stand_for_every_name(several: list[str], name: str) -> None:
    matched = {pattern for pattern in several if MQTT.covers(pattern, name)}
    if matched:
        examples = [
            {pattern for pattern in several if MQTT.covers(pattern, example(one))} for one in closure(several, 999)
        ]
        assert matched in examples


def test_wildcards_leave_out_what_brokers_say_about_themselves() -> None:
    assert not MQTT.covers("#", "$SYS/broker")
    assert not MQTT.covers("+/broker", "$SYS/broker")
    assert MQTT.covers("$SYS/#", "$SYS/broker")
    assert MQTT.covers("a/#", "a")
    assert not MQTT.covers("a/+", "a")
