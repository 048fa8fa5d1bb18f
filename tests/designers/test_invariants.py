"""One suite for every designer of the registry, on interests of every shape."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from effort import times
from reference.greedy import Components, Link
from reference.interests import SHAPES, random_interest, topics_by_node
from topicloom import __version__, design, measure
from topicloom.designers import DESIGNERS, Designer, DesignProblem, DesignRun, Stopped, Watch
from topicloom.model import InputError, Interest, Overlay
from topicloom.registry import Prepared

Parameters = dict[str, Any]

# What each designer promises. One that is missing here fails `test_every_designer_is_classed`.
GREEDY = {"gm", "minmax-oda", "low-oda", "gpa", "gpm", "gm-fold", "backbone"}  # every link contributes
COMPLETE = {
    *("gm", "minmax-oda", "low-oda", "cd-oda", "cd-oda-1", "cd-oda-2", "ring-per-topic", "gm-fold"),
    *("exact", "backbone", "search"),
}
RELAYING = {"tree"}  # connects every topic over relays
RANDOM = {"spidercast", "spidercast-m", "random-a", "random-m", "search"}
HEEDLESS = {"random-a", "random-m"}  # may link nodes that share no topic

BUDGETS: tuple[float, ...] = (1, 2, 5)
SETTINGS: dict[str, list[Parameters]] = {
    "low-oda": [{}, {"k": 1}, {"k": 1.5}, {"k": 100}],
    "gm-fold": [{}, {"folds": 1}, {"folds": 3}],
    "exact": [{}, {"minimise": "max_degree"}],
    "backbone": [{}, {"core_size": 1}, {"core_size": 1, "core": "low-oda"}],
    "search": [{"rounds": 50}, {"rounds": 50, "start": "gm", "aim": "degree-links"}],
    "spidercast": [{}, {"greedy": 1}, {"greedy": 1, "random": 2}],
    **{
        name: [*({designer.budget: budget} for budget in BUDGETS), {"budget_ratio": 0.5}]
        for name, designer in DESIGNERS.items()
        if designer.budget is not None
    },
}

designers = pytest.mark.parametrize("name", DESIGNERS)
shapes = pytest.mark.parametrize("shape", SHAPES)


def runs(name: str, interest: Interest) -> Iterator[tuple[Parameters, Overlay]]:
    for parameters in SETTINGS.get(name, [{}]):
        yield parameters, design(interest, name, seed=3, **parameters)


def links_of(overlay: Overlay) -> list[Link]:
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def fold_sizes(interest: Interest, links: list[Link], folds: int) -> list[int]:
    """Where the folds of gm-fold end: a fold is over when no link that is left contributes to it any more."""
    left = set(combinations(range(interest.node_count), 2))
    sizes: list[int] = []
    queue = list(links)
    for _ in range(folds):
        components, size = Components(interest), 0
        while queue and any(components.contribution(link) for link in left - set(links[: sum(sizes) + size])):
            components.add(queue.pop(0))
            size += 1
        sizes.append(size)
    return sizes


def test_every_designer_is_classed() -> None:
    assert set(DESIGNERS) >= GREEDY | COMPLETE | RANDOM | RELAYING
    assert set(DESIGNERS) <= GREEDY | COMPLETE | RANDOM | RELAYING
    assert {name for name, designer in DESIGNERS.items() if designer.random} == RANDOM
    assert {name for name, designer in DESIGNERS.items() if designer.budget} == {
        "gpa",
        "gpm",
        "spidercast-m",
        "random-a",
        "random-m",
    }


@designers
@shapes
def test_links_are_sound_and_contributions_right(name: str, shape: str) -> None:
    for seed in range(6):
        interest = random_interest(seed, shape)
        wanted = topics_by_node(interest)
        for parameters, overlay in runs(name, interest):
            said = f"seed {seed}, {parameters}"
            links = links_of(overlay)
            assert all(0 <= u < v < interest.node_count for u, v in links), said
            assert len(set(links)) == len(links), said
            if name not in HEEDLESS:
                assert all(wanted[u] & wanted[v] for u, v in links), said
            assert overlay.contribution is not None
            assert len(overlay.contribution) == len(links)
            folds = int(overlay.provenance.parameters["folds"]) if name == "gm-fold" else 1
            sizes = fold_sizes(interest, links, folds) if folds > 1 else [len(links)]
            assert sum(sizes) == len(links), said
            expected, at = [], iter(links)
            for size in sizes:
                components = Components(interest)
                for _ in range(size):
                    link = next(at)
                    expected.append(components.contribution(link))
                    components.add(link)
            assert overlay.contribution.tolist() == expected, said
            if name in GREEDY:
                assert all(expected), said
            first_fold = int(overlay.contribution[: sizes[0]].sum())
            found = measure(interest, overlay, diameters=False)
            assert found.links == len(links)
            assert first_fold == found.components_unlinked - found.components, said
            if name in COMPLETE:
                assert found.topic_connected, said
                assert found.support == 1.0, said


@designers
@shapes
def test_budgets_are_respected(name: str, shape: str) -> None:
    for seed in range(times(10)):
        interest = random_interest(seed, shape)
        complete = design(interest, "minmax-oda")
        for parameters, overlay in runs(name, interest):
            said = f"seed {seed}, {parameters}"
            used = overlay.provenance.parameters
            if "budget_ratio" in parameters:
                whole = len(complete) if DESIGNERS[name].budget == "max_edges" else complete.degrees.max()
                assert used[DESIGNERS[name].budget] == max(1, math.floor(whole / 2)), said
            assert len(overlay) <= float(used.get("max_edges", math.inf)), said
            assert overlay.degrees.max() <= float(used.get("max_degree", math.inf)), said


def test_the_whole_of_a_budget_ratio_is_found_once_for_an_interest(monkeypatch: pytest.MonkeyPatch) -> None:
    # The package has a function of that name, too.
    running = import_module("topicloom.designers.run")
    # Seeds that no other test has, as budgets are kept.
    interest, original, names = random_interest(971, "mixed"), running.run, []

    def noted(problem: DesignProblem, algorithm: Prepared[Designer], /, **parameters: Any) -> DesignRun:
        names.append(algorithm.name)
        return original(problem, algorithm, **parameters)

    monkeypatch.setattr(running, "run", noted)
    for name in ("gpa", "gpm", "random-m"):
        design(interest, name, budget_ratio=0.5)
    assert names.count("minmax-oda") == 1
    design(random_interest(972, "mixed"), "gpa", budget_ratio=0.5)
    assert names.count("minmax-oda") == 2
    design(random_interest(972, "mixed"), "gpm", budget_ratio=0.5)
    assert names.count("minmax-oda") == 2, "an equal interest has the same budgets"


@designers
def test_provenance_says_how_it_was_made(name: str) -> None:
    designer = DESIGNERS[name]
    interest = random_interest(1, "mixed")
    defaults = {p.name: p.default for p in designer.parameters if p.default is not None}
    for parameters, overlay in runs(name, interest):
        made = overlay.provenance
        assert made.algorithm == name
        assert made.seed == (3 if name in RANDOM else None)
        assert made.version == __version__
        given = dict(made.parameters)
        if "budget_ratio" in parameters:
            assert int(given.pop(designer.budget)) >= 1
        assert given == defaults | parameters
        with pytest.raises(TypeError):
            made.parameters["k"] = 7  # type: ignore[index]


@designers
def test_an_overlay_cannot_be_changed(name: str) -> None:
    for _, overlay in runs(name, random_interest(1, "mixed")):
        assert len(overlay) > 0
        for array in (overlay.source, overlay.target, overlay.contribution):
            assert array.dtype == np.int32
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        with pytest.raises(AttributeError):
            overlay.source = overlay.target  # type: ignore[misc]


@designers
@pytest.mark.parametrize("shape", ["disjoint", "one-node"])
def test_nothing_to_link_is_support_one(name: str, shape: str) -> None:
    """And no link, but for random pairs, which do not look at topics: these fill their budget and contribute 0."""
    for seed in range(5):
        interest = random_interest(seed, shape)
        nodes = interest.node_count
        for _, overlay in runs(name, interest):
            found = measure(interest, overlay)
            assert (found.support, found.topic_connected, found.relays, found.unreachable) == (1.0, True, 0, 0)
            assert overlay.contribution.sum() == 0
            if name == "random-a":
                assert len(overlay) == min(overlay.provenance.parameters["max_edges"], nodes * (nodes - 1) // 2)
            elif name == "random-m":
                below = np.flatnonzero(overlay.degrees < int(overlay.provenance.parameters["max_degree"])).tolist()
                assert set(combinations(below, 2)) <= set(links_of(overlay))
            else:
                assert len(overlay) == 0


@designers
@pytest.mark.parametrize(
    "pairs",
    [[], [("a", "t")], [("a", "t"), ("a", "u")], [("a", "t"), ("a", "t")]],
    ids=["nothing", "one subscription", "one node", "a repeat"],
)
def test_no_nodes_or_one_give_no_links(name: str, pairs: list[tuple[str, str]]) -> None:
    interest = Interest.from_pairs(pairs)
    for parameters, overlay in runs(name, interest):
        assert len(overlay) == 0
        assert overlay.degrees.tolist() == [0] * interest.node_count
        found = measure(interest, overlay)
        assert (found.nodes, found.links, found.support, found.topic_connected) == (interest.node_count, 0, 1.0, True)
        if "budget_ratio" in parameters:
            assert overlay.provenance.parameters[DESIGNERS[name].budget] == 1


@designers
def test_two_nodes_that_share_a_topic_get_one_link(name: str) -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("b", "u")])
    for parameters, overlay in runs(name, interest):
        assert links_of(overlay) == [(0, 1)], parameters
        assert overlay.contribution.tolist() == [1]


@designers
@pytest.mark.parametrize("seed", [0, 1, 12345, 2**40])
def test_the_seed_decides_and_only_where_chance_plays(name: str, seed: int) -> None:
    interest = random_interest(5, "mixed")
    for parameters in SETTINGS.get(name, [{}]):
        first = links_of(design(interest, name, seed=seed, **parameters))
        assert first == links_of(design(interest, name, seed=seed, **parameters))
        if name not in RANDOM:
            assert first == links_of(design(interest, name, **parameters))


@pytest.mark.parametrize("name", sorted(RANDOM))
def test_other_seeds_give_other_links(name: str) -> None:
    """Where there is room for chance: the first link of each node of SpiderCast is a greedy one."""
    interest = Interest.from_pairs([(f"n{u:02}", "t") for u in range(12)])
    budget = {DESIGNERS[name].budget: 5} if DESIGNERS[name].budget else {}
    assert len({tuple(links_of(design(interest, name, seed=seed, **budget))) for seed in range(8)}) > 4


class TestRefusals:
    def test_unknown_algorithm_lists_the_known(self) -> None:
        with pytest.raises(InputError, match=r"^unknown algorithm 'gmm'; known are gm, minmax-oda, .*backbone, tree$"):
            design(random_interest(0, "dense"), "gmm")

    @designers
    def test_unknown_parameter_lists_the_known(self, name: str) -> None:
        known = [p.name for p in DESIGNERS[name].parameters]
        if DESIGNERS[name].budget is not None:
            known += ["budget_ratio"] + ["matching"] * ("matching" not in known)
        expected = f"{name} does not take colour; it takes {', '.join(known) or 'none'}"
        with pytest.raises(InputError) as caught:
            design(random_interest(0, "dense"), name, colour=3)
        assert str(caught.value) == expected

    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("gpa", {"max_edges": 0}, "max_edges of gpa must be a whole number, 1 or more, not 0"),
            ("gpa", {"max_edges": -3}, "max_edges of gpa must be a whole number, 1 or more, not -3"),
            ("gpm", {"max_degree": 0}, "max_degree of gpm must be a whole number, 1 or more, not 0"),
            ("gpm", {"max_degree": 2.5}, "max_degree of gpm must be a whole number, 1 or more, not 2.5"),
            ("random-m", {"max_degree": "2"}, "max_degree of random-m must be a whole number, 1 or more, not '2'"),
            ("random-a", {"max_edges": True}, "max_edges of random-a must be a whole number, 1 or more, not True"),
            ("gpa", {"budget_ratio": 0}, "budget_ratio of gpa must be a number above 0, not 0"),
            ("gpa", {"budget_ratio": -0.1}, "budget_ratio of gpa must be a number above 0, not -0.1"),
            ("gpa", {"budget_ratio": math.nan}, "budget_ratio of gpa must be a number above 0, not nan"),
            ("gpa", {}, "gpa needs max_edges or budget_ratio; none is given"),
            ("gpm", {"max_degree": 2, "budget_ratio": 0.5}, "gpm needs max_degree or budget_ratio; not both"),
            ("low-oda", {"k": 0.5}, "k of low-oda must be a number, 1 or more, not 0.5"),
            ("low-oda", {"k": math.nan}, "k of low-oda must be a number, 1 or more, not nan"),
            ("gm-fold", {"folds": 0}, "folds of gm-fold must be a whole number, 1 or more, not 0"),
            ("gm", {"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
            ("gm", {"seed": 1.5}, "seed must be a whole number, 0 or more, not 1.5"),
            ("gpa", {"max_edges": math.inf}, "max_edges of gpa must be a whole number, 1 or more, not inf"),
            ("gpa", {"budget_ratio": math.inf}, "budget_ratio of gpa must be a number above 0, not inf"),
            ("spidercast", {"greedy": -1}, "greedy of spidercast must be a whole number, 0 or more, not -1"),
        ],
    )
    def test_values(self, name: str, parameters: dict[str, float], message: str) -> None:
        with pytest.raises(InputError) as caught:
            design(random_interest(0, "dense"), name, **parameters)
        assert str(caught.value) == message

    def test_numbers_that_are_taken(self) -> None:
        interest = random_interest(0, "dense")
        two = design(interest, "gpa", max_edges=np.int64(2))
        assert len(two) == 2
        assert two.provenance is not None
        assert type(two.provenance.parameters["max_edges"]) is int
        assert design(interest, "gpm", max_degree=10**30).degrees.tolist() == (
            design(interest, "minmax-oda").degrees.tolist()
        )
        assert len(design(interest, "spidercast", greedy=0, random=0)) == 0
        assert len(design(interest, "gm-fold", folds=None)) == len(design(interest, "gm-fold", folds=2))

    def test_a_stopped_design_gives_no_overlay(self) -> None:
        watch = Watch()
        watch.stop()
        with pytest.raises(Stopped):
            design(random_interest(0, "dense"), "gm", watch=watch)

    def test_too_little_memory_is_said_before_the_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("topicloom.designers.memory.available_bytes", lambda: 10)
        with pytest.raises(InputError, match=r"^gm would take about .* GB of memory .* and 0\.0 GB are available"):
            design(random_interest(0, "dense"), "gm")
