"""Who wants and who publishes: which nodes a topic has, and which filters are one topic."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from effort import times
from topicloom import InputError, Interest
from topicloom.model.filters import MQTT

ROWS = [
    ("a", "plant/#", "sub"),
    ("b", "plant/+/temp", "sub"),
    ("c", "plant/l2/temp", "pub"),
    ("d", "x", "both"),
    ("e", "x", "sub"),
    ("f", "nobody", "pub"),
    ("g", "$SYS/uptime", "sub"),
    ("h", "$share/workers/plant/l2/+", "sub"),
    ("i", "quiet", "sub"),
    ("j", "quiet", "sub"),
]


def members(interest: Interest) -> dict[str, list[str]]:
    return {
        name: [interest.node_names[node] for node in interest.nodes_of(topic)]
        for topic, name in enumerate(interest.topic_names)
    }


def test_filters_that_overlap_are_one_topic() -> None:
    interest = Interest.from_roles(ROWS, filters="mqtt")
    assert members(interest) == {"plant/#": ["a", "b", "c", "h"], "quiet": ["i", "j"], "x": ["d", "e"]}
    roles = interest.roles
    assert roles is not None
    assert (roles.unheard, roles.unspoken, roles.staying) == (1, 1, 1)
    wants, publishes = interest.patterns_of(interest.topic_ids["plant/#"])
    assert wants == {0: ("plant/#",), 1: ("plant/+/temp",), 7: ("plant/l2/+",)}
    assert publishes == {2: ("plant/l2/temp",)}
    quiet = interest.patterns_of(interest.topic_ids["quiet"])
    assert quiet[0] == quiet[1] == {8: ("quiet",), 9: ("quiet",)}


def test_without_filters_names_are_names() -> None:
    interest = Interest.from_roles([("a", "t/+", "sub"), ("b", "t/1", "pub"), ("c", "t/+", "pub")], filters="none")
    assert members(interest) == {"t/+": ["a", "c"]}


def test_rows_of_one_node_and_topic_come_together() -> None:
    apart = Interest.from_roles([("a", "t", "sub"), ("a", "t", "pub"), ("b", "t", "sub")])
    together = Interest.from_roles([("a", "t", "both"), ("b", "t", "sub")])
    assert apart.to_arrow().equals(together.to_arrow())
    assert apart.patterns_of(0) == together.patterns_of(0) == ({0: ("t",), 1: ("t",)}, {0: ("t",)})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_keep_roles(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"subs.{ending}"
    if ending == "csv":
        file.write_text("node,topic,role\n" + "".join(f"{','.join(row)}\n" for row in ROWS))
    else:
        Interest.from_roles([row for row in ROWS if row[0] != "g"], filters="mqtt").write(file)
    found = Interest.read(file, filters="mqtt")
    expected = Interest.from_roles(ROWS, filters="mqtt")
    assert members(found) == members(expected)
    assert found.to_arrow().equals(expected.to_arrow())


def test_a_role_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "subs.csv"
    file.write_text("node,topic,role\na,t,sub\nb,t,listener\n")
    with pytest.raises(InputError) as refused:
        Interest.read(file)
    assert str(refused.value) == f"{file}: row 2: role 'listener'; known are sub, pub, both"
    with pytest.raises(InputError, match=r"^unknown filters 'stomp'; known are mqtt, nats, amqp$"):
        Interest.from_roles([("a", "t", "sub")], filters="stomp")
    with pytest.raises(InputError, match=r"^subscriptions: row 1: filter 'a/#/b': has '#' before its end"):
        Interest.from_roles([("a", "a/#/b", "sub")], filters="mqtt")


def test_a_topic_is_what_overlaps_from_one_filter_to_the_next() -> None:
    """Against the same by hand: filters that somebody wants, or that overlap one, joined until nothing is left to."""
    for seed in range(times(60)):
        dice = random.Random(seed)
        levels = ["a", "b", "+"]
        rows = [
            (
                f"n{dice.randrange(8)}",
                "/".join([dice.choice(levels) for _ in range(dice.randint(1, 2))] + dice.choice([[], [], ["#"]])),
                dice.choice(["sub", "pub", "both"]),
            )
            for _ in range(12)
        ]
        wanted = {topic for _, topic, role in rows if role != "pub"}
        heard = {topic for _, topic, _ in rows if any(MQTT.overlap(topic, other) for other in wanted)}
        pieces = [{topic} for topic in sorted(heard)]
        for one, other in product(sorted(heard), repeat=2):
            if MQTT.overlap(one, other) and not wanted.isdisjoint((one, other)):
                met = [piece for piece in pieces if piece & {one, other}]
                pieces = [piece for piece in pieces if piece not in met] + [set[str]().union(*met)]
        expected = sorted(
            sorted({node for node, topic, role in rows if topic in piece}) for piece in pieces if piece & wanted
        )
        assert sorted(members(Interest.from_roles(rows, filters="mqtt")).values()) == expected, seed


def test_interests_that_differ_only_in_roles_are_not_equal() -> None:
    """They have other publishers, and so other plans, though designers see the same."""
    rows = [("a", "t", "sub"), ("b", "t", "pub"), ("b", "u", "both"), ("c", "u", "sub")]
    interest = Interest.from_roles(rows)
    swapped = Interest.from_roles([("a", "t", "pub"), ("b", "t", "sub"), *rows[2:]])
    plain = Interest.from_pairs([row[:2] for row in rows])
    assert interest == Interest.from_roles(rows[::-1])
    assert interest.node_topics.tolist() == swapped.node_topics.tolist()
    assert len({interest, swapped, plain}) == 3
    assert Interest.from_pairs([row[:2] for row in rows]) == plain


def test_interests_that_differ_only_in_filters_are_not_equal() -> None:
    """`a/b` and `a/+` in one topic: who has which filter matters, and whose wildcards they are."""
    one = Interest.from_pairs([("n", "a/#"), ("m", "a/b"), ("o", "a/+")], filters="mqtt")
    other = Interest.from_pairs([("n", "a/#"), ("m", "a/+"), ("o", "a/b")], filters="mqtt")
    assert one.topic_names == other.topic_names == ("a/#",)
    assert one.node_topics.tolist() == other.node_topics.tolist()
    assert one != other
    assert Interest.from_pairs([("n", "a"), ("m", "b")], filters="nats") != Interest.from_pairs(
        [("n", "a"), ("m", "b")], filters="amqp"
    )


def test_an_interest_equals_itself_read_from_its_table() -> None:
    """Topics that need no links, and so are not in the table, do not matter."""
    interest = Interest.from_roles([*ROWS, ("f", "x", "sub"), ("g", "x", "sub")], filters="mqtt")
    again = Interest.from_arrow(interest.to_arrow())
    assert again == interest
    assert hash(again) == hash(interest)
