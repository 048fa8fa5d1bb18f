"""Search by ruin and recreate: an overlay at least as good as its start, from any designer or from what runs today.

Start: the overlay of the problem, that of a designer, or, without either, links that the trees of a lower bound choose.
`gm` takes their place if it has fewer links than trees that leave pairs out, and `low-oda` if there are limits. Links
that limits or `max_degree` do not allow are left out, and the best allowed links complete the others; or `gpm` takes
their place if it connects more. If topics are not connected then, half of the search first lowers the degrees.
Rule: remove a few links, add the links of highest contribution until their topics are connected again, and keep the
result if it is no worse. Simulated annealing sometimes keeps worse results.
Guarantee: never worse than the start in what is asked for, and no topic has more components than in the start.
Cost: a round takes some microseconds, whatever the number of nodes; a search ends after so many rounds or seconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom.designers.contract import (
    BEGIN,
    CONSTRAINTS,
    MAX_DEGREE,
    PRICES,
    TIES,
    Designer,
    DesignProblem,
    Links,
)
from topicloom.designers.gm import greedy_merge
from topicloom.designers.greedy import Greedy
from topicloom.designers.local_search import (
    AIMS,
    MOST_ROUNDS,
    ROUNDS_BY_NODE,
    Aim,
    SearchRules,
    compile_kernels,
    pairs_of,
    search_bytes,
    search_links,
)
from topicloom.errors import InputError
from topicloom.kernels.covers import fitting
from topicloom.metrics.bounds import Bounds, bound
from topicloom.metrics.support import possible_merges
from topicloom.metrics.tree_bound import tree_bound_bytes
from topicloom.model.constraints import NO_LIMITS, UNLIMITED
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import MILLIONTHS
from topicloom.registry import Parameter, Value

# Shares of the seconds for the bound at most, and for the rounds at least.
_BOUND_SHARE, _LEAST_SHARE = 0.2, 0.3
# Above so many nodes nothing searches unless it is asked to.
SEARCHED_NODES = 3_000
# Weights of contributions beside use in the trees of the bound, for links to begin with.
_GUIDES = (0.5, 1.0, 2.0)
_PRICED_GUIDES = (0.1, 0.25, 0.5)
# One group of nodes, of which any two may be linked.
_ANY_LINK = np.ones((1, 1), np.bool_)

PARAMETERS = (
    Parameter("start", str, "the designer to begin with; links guided by a lower bound unless given", optional=True),
    Parameter(
        "rounds",
        int,
        f"its rounds; {ROUNDS_BY_NODE} for each node if no seconds are given",
        maximum=MOST_ROUNDS,
        optional=True,
    ),
    Parameter(
        "seconds",
        float,
        "the seconds that the search may take; its result then depends on time",
        minimum=0,
        exclusive=True,
        optional=True,
    ),
    Parameter("aim", str, "the numbers to lower, in this order", "links", choices=AIMS),
    replace(MAX_DEGREE, optional=True),
    TIES,
)


def build(
    problem: DesignProblem,
    *,
    start: str | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    aim: Aim = "links",
    max_degree: int | None = None,
    ties: str | None = None,
) -> Links:
    """The best links found, by rising ids of their ends."""
    begun = time.monotonic()
    interest, watch = problem.interest, problem.watch
    rules = SearchRules(aim=aim, limits=problem.limits, prices=problem.prices, max_degree=max_degree, seed=problem.seed)
    _check_start(problem, start)
    time_to_bound = None if seconds is None else _BOUND_SHARE * seconds
    least = bound(interest, prices=rules.paid, degrees=aim == "degree-links", seconds=time_to_bound, watch=watch)
    begin = _start(problem, start, ties, rules, least)
    watch.ticks[0] = 0
    if seconds is None:
        rounds = ROUNDS_BY_NODE * interest.node_count if rounds is None else rounds
    else:
        # Compilation does not count.
        compile_kernels()
        seconds = max(seconds - (time.monotonic() - begun), _LEAST_SHARE * seconds)
    earlier = 0
    within = _within(problem, begin, max_degree)
    if within.merges < begin.merges:
        # Overlays that connect topics by more links at a node often come down to the limits.
        half = None if rounds is None else rounds // 2
        rounds, seconds = rounds and rounds - rounds // 2, seconds and seconds / 2
        first = replace(rules, aim="degree-links")
        more = search_links(interest, *begin[:2], first, rounds=half, seconds=seconds, watch=watch)
        earlier = int(more.facts["rounds"])
        lowered = Links.measured(interest, more.source, more.target)
        within = min(within, _within(problem, lowered, max_degree), key=_rank)
    begin = within
    known = {"price": None if least.price is None else round(least.price * MILLIONTHS), "degree-links": None}
    lower_bound = known.get(aim, least.links)
    found = search_links(
        interest, *begin[:2], rules, rounds=rounds, seconds=seconds, watch=watch, lower_bound=lower_bound
    )
    links = Links.measured(interest, found.source, found.target)
    facts = {
        "start_links": len_of(begin),
        "start_max_degree": highest_degree(begin),
        "rounds": earlier + found.facts["rounds"],
        "accepted": found.facts["accepted"],
    }
    if rules.paid is not None:
        facts["price"] = found.facts["cost"] / MILLIONTHS
    if links.merges == possible_merges(interest):
        facts |= _proved(aim, links, facts.get("price"), least)
    return links._replace(facts=MappingProxyType(facts))


def _proved(aim: Aim, links: Links, price: float | None, least: Bounds) -> dict[str, Any]:
    """How far from the best an overlay may be, in the number that comes first in the aim."""
    firsts = {"price": (price, least.price), "degree-links": (highest_degree(links), least.max_degree)}
    reached, lowest = firsts.get(aim, (len_of(links), least.links))
    gap = reached / lowest - 1 if reached and lowest else 0.0
    return {"lower_bound": lowest, "gap": gap, "optimal": reached == lowest}


def _check_start(problem: DesignProblem, start: str | None) -> None:
    """Refuse a designer that a search cannot begin with, before any work."""
    # The registry imports this module.
    from topicloom.designers.registry import DESIGNERS

    if start is None:
        return
    if problem.begin is not None:
        raise InputError("start and an overlay to begin with exclude each other; give one of them", "start")
    designer = DESIGNERS.find(start)
    if designer.budget is not None or any(parameter.name == "seconds" for parameter in designer.parameters):
        raise InputError(f"start must be a designer without a budget of links or seconds, not {start}", "start")


def _start(problem: DesignProblem, start: str | None, ties: str | None, rules: SearchRules, least: Bounds) -> Links:
    """The links to begin with."""
    if problem.begin is not None:
        return Links.measured(problem.interest, problem.begin.source, problem.begin.target)
    if start is None and problem.limits.unlimited:
        paid = rules.paid
        trees, guides = (least.trees, _GUIDES) if paid is None else (least.priced, _PRICED_GUIDES)
        assert trees is not None
        chosen = [np.sort(np.stack(trees.guided_links(guide)), axis=0) for guide in guides]
        starts = [Links.measured(problem.interest, *ends) for ends in chosen]
        if min(links.merges for links in starts) < possible_merges(problem.interest):
            # The trees left pairs out.
            starts = [*(_completed(problem, ends) for ends in chosen), greedy_merge(Greedy.of(problem))]
        return min(starts, key=lambda links: len_of(links) if paid is None else int(paid.of(*links[:2]).sum()))
    return _designed(problem, start or "low-oda", {} if ties is None else {"ties": ties})


def _designed(problem: DesignProblem, name: str, parameters: Mapping[str, Value]) -> Links:
    """The links of a designer, with those of the parameters that it takes."""
    # The registry imports this module.
    from topicloom.designers.registry import DESIGNERS
    from topicloom.designers.run import run

    designer = DESIGNERS.find(name)
    asked = replace(problem, begin=None, prices=problem.prices if designer.honours >= PRICES else None, traffic=None)
    overlay = run(asked, DESIGNERS.prepare(name, problem.seed, designer.own(parameters))).overlay
    return Links.measured(problem.interest, overlay.source, overlay.target)


def _within(problem: DesignProblem, links: Links, max_degree: int | None) -> Links:
    """Links within the limits and a degree: as many of some as may stay, completed by the best, or those of `gpm`."""
    limits, nodes = problem.limits, problem.interest.node_count
    most = UNLIMITED if max_degree is None else min(max_degree, UNLIMITED)
    if limits.unlimited:
        if highest_degree(links) <= most:
            return links
        group = np.zeros(nodes, np.int32)
        limits = replace(limits, spare=np.full(nodes, most, np.int32), group=group, may_link=_ANY_LINK)
    else:
        limits = replace(limits, spare=np.minimum(limits.spare, most).astype(np.int32))
    source, target = (np.concatenate(ends) for ends in zip((limits.source, limits.target), links[:2], strict=True))
    built = fitting(source, target, limits.spare, limits.group, limits.may_link, len(limits.source))
    kept = replace(limits, source=source[built], target=target[built])
    if pairs_of(kept.source, kept.target) == pairs_of(*links[:2]):
        return links
    ways = [greedy_merge(Greedy.of(replace(problem, limits=kept, begin=None)))]
    if max_degree is not None:
        ways.append(_designed(problem, "gpm", {"max_degree": max_degree}))
    return min(ways, key=_rank)


def _rank(links: Links) -> tuple[int, int]:
    """The order of overlays: those that connect more first, then those of fewer links."""
    return -links.merges, len_of(links)


def _completed(problem: DesignProblem, ends: Ids) -> Links:
    """Links, completed by the best others until topics are connected."""
    return greedy_merge(Greedy.of(replace(problem, limits=replace(NO_LIMITS, source=ends[0], target=ends[1]))))


def len_of(links: Links) -> int:
    """The number of links."""
    return len(links.source)


def highest_degree(links: Links) -> int:
    """The most links of a node."""
    return int(np.bincount(np.concatenate([links.source, links.target]), minlength=1).max())


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that a bound and a search take, without the topics of its links, which `Search.of` foresees."""
    none = np.empty(0, np.int32)
    return search_bytes(interest, none, none) + tree_bound_bytes(np.diff(interest.topic_start))


def total(interest: Interest, parameters: Mapping[str, Any]) -> int | None:
    """Rounds that `watch.done` comes to, if there are no seconds."""
    if "seconds" in parameters:
        return None
    return int(parameters.get("rounds", ROUNDS_BY_NODE * interest.node_count))


DESIGNER = Designer(
    name="search",
    paper="none; ruin and recreate, after Schrimpf et al., J. Comput. Phys. 159 (2000)",
    rule="remove a few links, connect their topics again by the best links, keep what is no worse; again and again",
    guarantee="never worse than its start in what is asked for, and as connected",
    build=build,
    honours=CONSTRAINTS | PRICES | BEGIN,
    parameters=PARAMETERS,
    random=True,
    anytime=True,
    compile_with=(("rounds", 1),),
    memory=memory,
    total=total,
)
