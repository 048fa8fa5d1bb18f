"""Lint: what it finds in fleets as people write them, and what real brokers do with the same files."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lint_fleets import FLEETS, FOR_EVER, bridge
from naive_fleets import NaiveFleets
from simulated_bridges import possible_names, published, random_bridges

from topicloom import InputError, Interest
from topicloom.brokers.lint import LintReport, lint, read_configured
from topicloom.model.filters import MQTT


def report_of(folder: Path, bridges: dict[str, str], interest: Interest | None = None) -> LintReport:
    for name, text in bridges.items():
        (folder / f"{name}.conf").write_text(text)
    return lint(read_configured([folder]), interest)


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
    assert finding.text == "'any' published at a goes round for ever: b -> c -> a -> b"
    assert finding.where == tuple(f"{tmp_path}/{name}.conf:1" for name in "abc")
    report = report_of(tmp_path, FLEETS["names that grow"].bridges | {"c": ""})
    text = next(finding.text for finding in report.findings if finding.kind == "loop")
    assert text == ("'any' published at a goes round for ever: b -> a -> b, its name growing from 'a/any' to 'a/a/any'")


@pytest.mark.parametrize("seed", [*range(20), 81, 121, 250, 327])
def test_findings_name_a_topic_that_loops_or_arrives_twice(seed: int, tmp_path: Path) -> None:
    bridges = random_bridges(seed)
    names = sorted({end for bridge in bridges for end in (bridge.opener, bridge.other)})
    texts = {name: "".join(bridge.text() for bridge in bridges if bridge.opener == name) for name in names}
    findings = [each for each in report_of(tmp_path, texts).findings if each.kind in ("loop", "duplicate")]
    for finding in findings:
        said = re.match(r"'(.*)' published at (\w) ", finding.text)
        assert said is not None
        assert said[1] == finding.topic
        assert published(bridges, said[2], finding.topic) == finding.kind
    dice = random.Random(seed)
    does = {published(bridges, dice.choice(names), topic) for topic in possible_names()}
    assert does - {None} <= {finding.kind for finding in findings}


def test_only_some_names_under_a_pattern_loop(tmp_path: Path) -> None:
    short = report_of(tmp_path, {"a": bridge("b", "x/# out 1"), "b": bridge("a", "x/+ out 1")})
    assert [finding.topic for finding in short.findings if finding.kind == "loop"] == ["x/any"]
    long = report_of(tmp_path, {"a": bridge("b", '+/+ out 1 "" p/', "# out 1"), "b": bridge("a", "# out 1")})
    assert [finding.topic for finding in long.findings if finding.kind == "loop"] == ["any"]
    # A name of two levels gets a prefix with which it does not come back; one level less, and more, it loops.
    rest = report_of(tmp_path, {"a": bridge("b", 'x/+ out 1 "" p/', "x/# out 1"), "b": bridge("a", "x/# out 1")})
    assert [finding.topic for finding in rest.findings if finding.kind == "loop"] == ["x"]


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
    report = lint(read_configured([tmp_path]))
    assert [finding.kind for finding in report.findings] == ["loop"]


def test_patterns_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text('connection x\naddress b\ntopic "two words/#" in 1 "" r/\ntopic "" both 0 l r\n')
    ((broker,),) = (read_configured([tmp_path]),)
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
    assert [finding.kind for finding in lint(read_configured([tmp_path])).findings] == ["loop", "both-ends"]
    one = read_configured([tmp_path / "a"])
    assert [(broker.name, len(broker.bridges[0].rules)) for broker in one] == [("a", 1)]
    assert read_configured([tmp_path / "a" / "mosquitto.conf"]) == one


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
        read_configured([file])
    assert str(refused.value) == f"{file}{wrong}"


def test_what_cannot_be_read_is_a_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    bridges = dict(FLEETS["triangle"].bridges)
    bridges["a"] += "topic t sideways\ninclude_dir /none/such\nlistener 18x83\n"
    bridges["b"] = f"topic early out\n{bridges['b']}connection lost\ntopic t out\n"
    for name, text in bridges.items():
        (tmp_path / f"{name}.conf").write_text(text)
    with (tmp_path / "c.conf").open("ab") as opened:
        opened.write(b"\n# \xff\nconnection x\naddress u:pw@b\n")
    problems: list[InputError] = []
    brokers = read_configured([tmp_path], None, problems.append)
    report = lint(brokers, unreadable=problems)
    assert report.serious
    assert [finding.kind for finding in report.findings] == ["loop", *["unreadable"] * 7]
    found = {finding.where[0].removeprefix(f"{tmp_path}/"): finding.text for finding in report.findings[1:]}
    assert found == {
        "a.conf:4": "direction 'sideways' is none of out, in, both",
        "a.conf:5": "the folder /none/such is neither there nor beside the file; copy it beside the file",
        "a.conf:6": "'18x83' is no port; give a whole number",
        "b.conf:1": "'topic' comes before any 'connection'; begin the bridge with 'connection NAME'",
        "b.conf:5": "connection 'lost' has no address; give 'address HOST:PORT'",
        "c.conf:5": "cannot be read (it is not UTF-8)",
        "c.conf:6": "the port of 'x' is no whole number; give 'address HOST:PORT'",
    }


def test_a_file_that_cannot_be_opened_and_a_cycle_of_folders(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "a.conf").write_text(f"include_dir {folder}\n")
    (folder / "b.conf").mkdir()
    problems: list[InputError] = []
    read_configured([folder / "a.conf"], None, problems.append)
    assert [str(problem) for problem in problems] == [
        f"{folder}/a.conf:1: includes {folder}/a.conf, which includes this file",
        f"{folder}/b.conf: cannot be read (Is a directory)",
    ]


def test_paths_without_configurations(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file or folder$"):
        read_configured([tmp_path / "none"])
    with pytest.raises(InputError, match=r"has no \.conf or \.json files; give .* of Mosquitto or RabbitMQ or NATS$"):
        read_configured([tmp_path])
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.conf").touch()
    with pytest.raises(InputError, match=r"^two configurations are both of broker 'a'"):
        read_configured([tmp_path / "x", tmp_path / "y"])
    (tmp_path / "x" / "a.conf").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"cannot be read \(it is not UTF-8\)$"):
        read_configured([tmp_path / "x"])


def test_folders_that_include_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "a.conf").write_text(f"include_dir {folder}\n")
    with pytest.raises(InputError, match=r"which includes this file$"):
        read_configured([folder / "a.conf"])


def test_wildcards_leave_out_what_brokers_say_about_themselves() -> None:
    assert not MQTT.covers("#", "$SYS/broker")
    assert not MQTT.covers("+/broker", "$SYS/broker")
    assert MQTT.covers("$SYS/#", "$SYS/broker")
    assert MQTT.covers("a/#", "a")
    assert not MQTT.covers("a/+", "a")
