from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest
from topicloom.model import Interest
from topicloom.model.fingerprint import digest, name_hashes, subscriptions_sum

Pairs = list[tuple[str, str]]

# Any text that can be a name: not empty, and no half of a surrogate pair.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
pair_lists = st.lists(st.tuples(names, names), max_size=25)
ARRAYS = ("node_start", "node_topics", "topic_start", "topic_nodes")


def pairs_of(interest: Interest) -> set[tuple[str, str]]:
    return {
        (node, interest.topic_names[t])
        for u, node in enumerate(interest.node_names)
        for t in interest.topics_of(u).tolist()
    }


class TestRows:
    @given(pair_lists)
    def test_hold_exactly_the_pairs_given(self, pairs: Pairs) -> None:
        interest = Interest.from_pairs(pairs, filters="none")
        assert pairs_of(interest) == set(pairs)
        assert interest.subscription_count == len(set(pairs))
        assert interest.node_count == len({node for node, _ in pairs})
        assert interest.topic_count == len({topic for _, topic in pairs})

    @given(pair_lists)
    def test_by_node_and_by_topic_are_inverse_and_rising(self, pairs: Pairs) -> None:
        interest = Interest.from_pairs(pairs, filters="none")
        by_node = {(u, t) for u in range(interest.node_count) for t in interest.topics_of(u).tolist()}
        by_topic = {(u, t) for t in range(interest.topic_count) for u in interest.nodes_of(t).tolist()}
        assert by_node == by_topic
        for start, values, rows in (
            (interest.node_start, interest.node_topics, interest.node_count),
            (interest.topic_start, interest.topic_nodes, interest.topic_count),
        ):
            assert len(start) == rows + 1
            assert (start[0], start[-1]) == (0, interest.subscription_count)
            for row in range(rows):
                assert (np.diff(values[start[row] : start[row + 1]]) > 0).all()
        assert (interest.node_start.dtype, interest.topic_start.dtype) == (np.int64, np.int64)
        assert (interest.node_topics.dtype, interest.topic_nodes.dtype) == (np.int32, np.int32)

    @given(pairs=pair_lists, order=st.randoms(use_true_random=False))
    def test_order_and_repeats_do_not_matter(self, pairs: Pairs, order: object) -> None:
        again = pairs + pairs[::2]
        order.shuffle(again)  # type: ignore[attr-defined]
        assert Interest.from_pairs(again, filters="none") == Interest.from_pairs(pairs, filters="none")

    def test_from_ids_keeps_nodes_and_topics_without_subscriptions(self) -> None:
        interest = Interest.from_ids(("a", "b", "c"), ("s", "t"), np.array([2, 0, 2, 2]), np.array([1, 1, 0, 1]))
        assert [interest.topics_of(u).tolist() for u in range(3)] == [[1], [], [0, 1]]
        assert [interest.nodes_of(t).tolist() for t in range(2)] == [[2], [0, 2]]
        nothing = Interest.from_ids(("a",), (), np.empty(0, int), np.empty(0, int))
        assert (nothing.node_count, nothing.topics_of(0).tolist(), nothing.topic_start.tolist()) == (1, [], [0])

    def test_nothing_is_an_interest_too(self) -> None:
        interest = Interest.from_pairs([])
        assert (interest.node_count, interest.topic_count, interest.subscription_count) == (0, 0, 0)
        assert (interest.node_names, interest.topic_ids) == ((), {})
        assert interest == Interest.from_pairs(iter([]))


class TestNames:
    @given(pair_lists)
    def test_ids_follow_code_points_both_ways(self, pairs: Pairs) -> None:
        interest = Interest.from_pairs(pairs, filters="none")
        assert list(interest.node_names) == sorted({node for node, _ in pairs})
        assert list(interest.topic_names) == sorted({topic for _, topic in pairs})
        assert [interest.node_ids[name] for name in interest.node_names] == list(range(interest.node_count))
        assert [interest.topic_ids[name] for name in interest.topic_names] == list(range(interest.topic_count))

    def test_beyond_the_basic_plane_comes_after_it(self) -> None:
        """By code point U+FFFF < U+10000; by UTF-16 units, D800 DC00 < FFFF."""
        ordered = ["", "A", "Z", "a", "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "\U0010ffff"][1:]
        interest = Interest.from_pairs([(name, name) for name in reversed(ordered)])
        assert interest.node_names == interest.topic_names == tuple(ordered)

    def test_no_name_is_trimmed_folded_or_normalised(self) -> None:
        different = ["a", "A", " a", "a ", "a\n", "a\x00", "\u00e9", "e\u0301", "1", "01", "1.0", "None", "nan"]
        interest = Interest.from_pairs([(name, "t") for name in different])
        assert sorted(interest.node_names) == sorted(different)


class TestImmutable:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_arrays_refuse_writes(self, shape: str) -> None:
        interest = random_interest(2, shape)
        for name in ARRAYS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(interest, name)[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            interest.topics_of(0)[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            interest.nodes_of(0)[0] = 0

    def test_fields_cannot_be_set(self) -> None:
        interest = random_interest(2, "mixed")
        for name in (*ARRAYS, "node_names", "topic_names"):
            with pytest.raises(FrozenInstanceError):
                setattr(interest, name, ())

    def test_arrays_given_are_copied(self) -> None:
        nodes, topics = np.array([0, 1]), np.array([0, 0])
        interest = Interest.from_ids(("a", "b"), ("t",), nodes, topics)
        nodes[:] = 1
        topics[0] = 0
        assert pairs_of(interest) == {("a", "t"), ("b", "t")}

    def test_copies_and_pickles_are_equal(self) -> None:
        interest = random_interest(2, "mixed")
        assert copy.deepcopy(interest) == interest == pickle.loads(pickle.dumps(interest))


class TestEquality:
    @given(pairs=pair_lists, others=pair_lists)
    def test_is_that_of_the_pairs(self, pairs: Pairs, others: Pairs) -> None:
        first, second = Interest.from_pairs(pairs, filters="none"), Interest.from_pairs(others, filters="none")
        assert (first == second) == (set(pairs) == set(others))
        if first == second:
            assert hash(first) == hash(second)

    def test_sees_every_part(self) -> None:
        base = Interest.from_pairs([("a", "s"), ("b", "t")])
        assert base != Interest.from_pairs([("a", "s"), ("c", "t")])  # the name of a node
        assert base != Interest.from_pairs([("a", "s"), ("b", "u")])  # the name of a topic
        assert base != Interest.from_pairs([("a", "t"), ("b", "s")])  # who wants what
        assert base != Interest.from_pairs([("a", "s"), ("b", "t"), ("b", "s")])  # one more
        assert base != "a Interest"
        assert (base == 3) is False

    def test_serves_as_key(self) -> None:
        assert {Interest.from_pairs([("a", "t")]): 1}[Interest.from_pairs([("a", "t"), ("a", "t")])] == 1


class TestFingerprint:
    @given(pairs=pair_lists, others=pair_lists)
    def test_tells_sets_of_pairs_apart_and_only_these(self, pairs: Pairs, others: Pairs) -> None:
        same = set(pairs) == set(others)
        assert (
            Interest.from_pairs(pairs, filters="none").fingerprint
            == Interest.from_pairs(others, filters="none").fingerprint
        ) == same

    @given(pairs=st.lists(st.tuples(names, names), min_size=1, max_size=25), data=st.data())
    def test_sees_any_change_but_order_and_repeats(self, pairs: Pairs, data: st.DataObject) -> None:
        base = Interest.from_pairs(pairs, filters="none").fingerprint
        assert Interest.from_pairs([*reversed(pairs), *pairs], filters="none").fingerprint == base
        row = data.draw(st.integers(0, len(pairs) - 1))
        node, topic = pairs[row]
        for changed in ((node + "x", topic), (node, topic + "x"), (topic, node)):
            rows = [*pairs[:row], changed, *pairs[row + 1 :]]
            assert (Interest.from_pairs(rows, filters="none").fingerprint == base) == (set(rows) == set(pairs))
        fewer = [pair for pair in pairs if pair != pairs[row]]
        assert Interest.from_pairs(fewer, filters="none").fingerprint != base

    def test_sees_who_is_node_and_who_is_topic(self) -> None:
        assert Interest.from_pairs([("a", "b")]).fingerprint != Interest.from_pairs([("b", "a")]).fingerprint
        crossed = Interest.from_pairs([("a", "x"), ("b", "y")]), Interest.from_pairs([("a", "y"), ("b", "x")])
        assert crossed[0].fingerprint != crossed[1].fingerprint

    @pytest.mark.parametrize("separator", [",", "\t", "/", " ", "\x00", "\n", "-", "|"])
    def test_does_not_run_names_together(self, separator: str) -> None:
        left = Interest.from_pairs([("a" + separator, "b")])
        right = Interest.from_pairs([("a", separator + "b")])
        moved = Interest.from_pairs([(f"a{separator}b", "c")]), Interest.from_pairs([("a", f"b{separator}c")])
        assert left.fingerprint != right.fingerprint
        assert moved[0].fingerprint != moved[1].fingerprint

    def test_is_the_sum_of_its_parts(self) -> None:
        """Repeating a pair an even number of times, or swapping two, must not cancel out."""
        found = {
            Interest.from_pairs(pairs, filters="none").fingerprint
            for pairs in (
                [],
                [("a", "s")],
                [("a", "s"), ("a", "t")],
                [("a", "s"), ("b", "t")],
                [("a", "t"), ("b", "s")],
                [("a", "s"), ("a", "t"), ("b", "s"), ("b", "t")],
            )
        }
        assert len(found) == 6

    def test_is_a_sum_of_parts_modulo_2_to_64(self) -> None:
        pairs = [(f"n{number % 997}", f"t{number % 89}/é") for number in range(50_000)]
        interest = Interest.from_pairs(pairs)
        hashes = name_hashes(interest.node_names), name_hashes(interest.topic_names)
        nodes = np.repeat(np.arange(interest.node_count), np.diff(interest.node_start))
        rows = np.random.default_rng(0).permutation(len(nodes))
        parts = [rows[:1], rows[1:20_000], rows[20_000:]]
        total = sum(subscriptions_sum(*hashes, nodes[part], interest.node_topics[part]) for part in parts)
        assert digest(total, len(nodes)) == interest.fingerprint
        assert subscriptions_sum(*hashes, nodes[:0], interest.node_topics[:0]) == 0

    def test_chains_xxhash(self) -> None:
        """One subscription by the reference implementation."""
        node, topic = (xxhash.xxh64_intdigest(name.encode(), 42) for name in ("é", "news"))
        seed = xxhash.xxh64_intdigest(node.to_bytes(8, "little"), 42)
        expected = xxhash.xxh64_intdigest(topic.to_bytes(8, "little"), seed)
        assert Interest.from_pairs([("é", "news")]).fingerprint == f"1-{expected:016x}"

    def test_has_not_changed(self) -> None:
        """Overlays on disk carry it: another value would refuse every one of them."""
        interest = Interest.from_pairs([("b1", "news"), ("b2", "news"), ("é", "😀")])
        assert interest.fingerprint == "3-4dfe2ec40ed23308"


def test_describes_itself_in_one_line() -> None:
    interest = Interest.from_pairs([(f"n{u}", f"t{u % 7}") for u in range(1234)])
    assert repr(interest) == "<Interest: 1,234 nodes, 7 topics, 1,234 subscriptions>"


@given(pair_lists)
def test_to_arrow_and_to_pandas_give_the_pairs_sorted(pairs: Pairs) -> None:
    interest = Interest.from_pairs(pairs, filters="none")
    table, frame = interest.to_arrow(), interest.to_pandas()
    assert table.column_names == list(frame.columns) == ["node", "topic"]
    assert list(zip(*table.to_pydict().values(), strict=True)) == sorted(set(pairs))
    assert list(frame.itertuples(index=False, name=None)) == sorted(set(pairs))
    assert Interest.from_arrow(table) == interest
