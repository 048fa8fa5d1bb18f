"""The claims of Shadows on made-up results: each holds where it should and fails where it must."""

from __future__ import annotations

import math

import pytest
from made_up import FIGURES, Results, but, verdict_on
from made_up_shadows import (
    GREEDILY,
    MAINTAINED,
    averages,
    between,
    churn,
    coverages,
    dual,
    exponential,
    falling,
    flat,
    greedy,
    jump,
    links,
    methods,
    repairs,
    restless,
    shadow_sets,
    slope,
    times,
    two_ways,
)

pytestmark = pytest.mark.slow

Cases = list[tuple[Results, bool]]


def under_uniform(right: Results, *wrong: Results) -> Cases:
    """A number under uniform popularity: wrong ones fail there and do not matter elsewhere."""
    there = [(but(right, each, popularity="uniform"), False) for each in wrong]
    elsewhere = [(but(each, right, popularity="uniform"), True) for each in wrong]
    return [(right, True), *there, *elsewhere]


def everywhere(right: Results, *wrong: Results, popularity: str = "exponential", **where: str) -> Cases:
    """True of every popularity: fails if a single one is wrong."""
    return [(right, True), *((but(right, each, popularity=popularity, **where), False) for each in wrong)]


def no_matter(*results: Results) -> Cases:
    """What a claim is not about."""
    return [(each, True) for each in results]


def degrees_of(method: str, *numbers: int) -> dict[str, Cases]:
    """What figure 6 says of Shadow and of Naive alike, by the numbers of the claims."""

    def runs(one: Results, other: Results = MAINTAINED) -> Results:
        return methods(**{"shadow": other, "naive": other, method: one})

    above_in_maximum = [
        *everywhere(methods(), churn((10, 16)), churn((10, 15)), method=method, popularity="uniform"),
        *no_matter(runs(churn((10, 17), (1.0, 1.0)), churn((5, 5)))),
    ]
    above_in_average = [
        *everywhere(methods(), averages(3.59, 4.1), averages(3.0, 4.2), method=method, popularity="uniform"),
        *no_matter(runs(churn((5, 5), (3.0, 4.6)), averages(1.0, 1.0))),
    ]
    average_stays = [
        *under_uniform(methods(), runs(averages(4.0, 5.1)), runs(averages(4.0, 2.9))),
        *no_matter(runs(churn((13, 99), (9.0, 9.5)), averages(4.0, 9.0))),
    ]
    at_first = [
        *under_uniform(methods(), runs(churn((11, 22))), runs(churn((15, 22)))),
        *no_matter(runs(churn((13, 99)), churn((99, 99)))),
    ]
    at_last = [
        *under_uniform(methods(), runs(churn((13, 19))), runs(churn((13, 25)))),
        *no_matter(runs(churn((99, 22)), churn((99, 99)))),
    ]
    growth = [
        *under_uniform(methods(), runs(churn((13, 21))), runs(churn((13, 23)))),
        *no_matter(runs(churn((33, 42)), churn((13, 13)))),
    ]
    cases = (above_in_maximum, above_in_average, average_stays, at_first, at_last, growth)
    return {f"shadows-fig-6.{number}": each for number, each in zip(numbers, cases, strict=True)}


BUILT = two_ways(dual(), greedy())
GROWN = two_ways(MAINTAINED, GREEDILY)
FAST = times(shadow=(0.01, 0.1), naive=(0.01, 0.1), worst=0.1)
FEW = links(shadow=(2, 6), naive=(2, 6))

HOLDS_AND_FAILS: dict[str, Cases] = {
    "shadows-fig-2.1": [
        (greedy(), True),
        (greedy(backups=slope(0.47)), False),
        (greedy(backups=slope(0.63)), False),
        (greedy(primaries=flat), True),
    ],
    "shadows-fig-2.2": [
        (greedy(), True),
        (greedy(backups=between(20, 30)), True),
        (greedy(backups=falling), False),
        (greedy(backups=jump), False),
        (greedy(backups=flat), False),
        (but(greedy(), greedy(backups=flat), seed=5), False),
        (greedy(primaries=flat), True),
    ],
    "shadows-fig-2.3": [
        (greedy(), True),
        (greedy(primaries=lambda topics: 4 if topics <= 30 else 5), True),
        (greedy(primaries=lambda topics: 4 if topics <= 20 else 5), False),
        (greedy(primaries=lambda topics: 4 if topics <= 40 else 5), False),
    ],
    "shadows-fig-2.4": [
        (greedy(), True),
        (greedy(primaries=lambda topics: exponential(80 - topics)), False),
        (greedy(primaries=lambda topics: 100 * math.log(topics)), False),
        (greedy(primaries=flat), False),
        (but(greedy(), greedy(primaries=slope(1)), seed=5), False),
        (but(greedy(), greedy(primaries=flat), seed=5), False),
    ],
    "shadows-fig-3.1": [
        (BUILT, True),
        (two_ways(dual(backups=slope(1.2)), greedy()), False),
        (two_ways(dual(backups=slope(1.6)), greedy()), False),
        (two_ways(dual(), greedy(backups=slope(9))), True),
    ],
    "shadows-fig-3.2": [
        (BUILT, True),
        (two_ways(dual(backups=slope(2.8)), greedy(backups=slope(1.1))), True),
        (two_ways(dual(backups=slope(1.65)), greedy()), False),
        (two_ways(dual(), greedy(backups=slope(0.65))), False),
    ],
    "shadows-fig-3.3": [
        (BUILT, True),
        (two_ways(dual(), greedy(backups=flat)), True),
        (two_ways(dual(backups=falling), greedy()), False),
        (two_ways(dual(backups=flat), greedy()), False),
        (but(BUILT, two_ways(dual(backups=flat), greedy()), seed=5), False),
    ],
    "shadows-fig-3.4": [
        (BUILT, True),
        (two_ways(dual(primaries=between(21, 99)), greedy()), True),
        (two_ways(dual(primaries=between(18, 59)), greedy()), False),
        (two_ways(dual(primaries=between(24, 59)), greedy()), False),
    ],
    "shadows-fig-3.5": [
        (BUILT, True),
        (two_ways(dual(primaries=between(1, 59)), greedy(primaries=slope(9))), True),
        (two_ways(dual(primaries=between(21, 52)), greedy()), False),
        (two_ways(dual(primaries=between(21, 66)), greedy()), False),
    ],
    "shadows-fig-3.6": [
        (BUILT, True),
        (two_ways(dual(), greedy(primaries=falling)), True),
        (two_ways(dual(primaries=lambda topics: exponential(2 * topics)), greedy()), False),
        (two_ways(dual(primaries=falling), greedy()), False),
        (two_ways(dual(primaries=flat), greedy()), False),
        (but(BUILT, two_ways(dual(primaries=flat), greedy()), seed=5), False),
    ],
    "shadows-fig-3.7": [
        (BUILT, True),
        (two_ways(dual(), greedy(primaries=lambda topics: exponential(topics) * 9)), True),
        (two_ways(dual(backups=slope(9)), greedy()), True),
        (two_ways(dual(), dual(backups=slope(9))), False),
        (but(BUILT, two_ways(greedy(), dual()), seed=5), False),
    ],
    "shadows-fig-4.1": [
        *everywhere(GROWN, churn((84, 84)), churn((84, 83)), backups="greedy-plain"),
        *everywhere(GROWN, churn((22, 22)), churn((22, 21)), backups="primal-dual-carried"),
        *no_matter(two_ways(churn((2, 3), (4.0, 3.0)), GREEDILY)),
    ],
    "shadows-fig-4.2": [
        *everywhere(GROWN, churn((13, 84), (4.0, 4.0)), churn((13, 84), (4.0, 3.9)), backups="greedy-plain"),
        *everywhere(GROWN, churn((13, 22), (4.0, 4.0)), churn((13, 22), (4.0, 3.9)), backups="primal-dual-carried"),
        *no_matter(two_ways(churn((13, 9), (1.0, 1.1)), GREEDILY)),
    ],
    "shadows-fig-4.3": [
        *under_uniform(GROWN, two_ways(MAINTAINED, churn((13, 75))), two_ways(MAINTAINED, churn((13, 93)))),
        *no_matter(two_ways(churn((99, 99)), GREEDILY), two_ways(MAINTAINED, churn((50, 84), (1.0, 1.0)))),
    ],
    "shadows-fig-4.4": [
        *everywhere(GROWN, churn((13, 84)), churn((13, 85)), backups="primal-dual-carried"),
        *no_matter(two_ways(churn((83, 83), (9.0, 9.0)), churn((13, 84)))),
    ],
    "shadows-fig-4.5": [
        *everywhere(GROWN, averages(4.0, 6.0), averages(4.0, 6.1), backups="primal-dual-carried"),
        *no_matter(two_ways(churn((99, 99), (5.9, 5.9)), GREEDILY)),
    ],
    "shadows-fig-5.1": under_uniform(coverages(), coverages(last=(27, 26, 24, 23)), coverages(last=(35, 26, 24, 23))),
    "shadows-fig-5.2": under_uniform(coverages(), coverages(last=(31, 22, 24, 23)), coverages(last=(31, 28, 24, 23))),
    "shadows-fig-5.3": under_uniform(coverages(), coverages(last=(31, 26, 21, 23)), coverages(last=(31, 26, 27, 23))),
    "shadows-fig-5.4": under_uniform(coverages(), coverages(last=(31, 26, 24, 21)), coverages(last=(31, 26, 24, 27))),
    "shadows-fig-5.5": [
        *everywhere(
            coverages(), coverages(last=(31, 31, 24, 23)), coverages(last=(31, 26, 27, 23)), coverages((9, 9, 9, 9))
        ),
        *no_matter(coverages(last=(24, 24, 24, 24), first=(16, 15, 14, 13))),
    ],
    "shadows-fig-5.6": [
        *everywhere(coverages(), coverages(last=(31, 26, 24, 25)), coverages(first=(20, 13, 13, 13))),
        *no_matter(coverages(last=(24, 24, 24, 24)), coverages(last=(30, 40, 50, 60), first=(10, 20, 30, 40))),
    ],
    "shadows-fig-5.7": [
        *everywhere(coverages(), coverages(last=(31, 28, 25, 22)), coverages(last=(31, 30, 24, 23))),
        *no_matter(coverages(last=(31, 25, 24, 24))),
    ],
    "shadows-fig-5.8": [
        *under_uniform(coverages(), coverages(last=(31, 26, 24, 21)), coverages(last=(31, 26, 24, 27))),
        *no_matter(coverages(last=(99, 9, 12, 12))),
    ],
    "shadows-fig-5.9": everywhere(
        coverages(), coverages(shadow=(20, 35, 35, 65)), coverages(shadow=(20, 35, 50, 49)), churn()
    ),
    "shadows-fig-5.10": [
        *everywhere(
            coverages(),
            coverages(last=(31, 28, 25, 22)),
            coverages(last=(31, 26, 24, 21)),
            coverages(first=(18, 13, 13, 13)),
        ),
        *no_matter(coverages(last=(31, 25, 24, 24)), coverages(first=(13, 13, 13, 12), last=(31, 26, 24, 22))),
    ],
    "shadows-fig-6.1": [
        *under_uniform(methods(), methods(shadow=churn((20, 30))), methods(naive=churn((20, 30)))),
        *no_matter(methods(low=churn((50, 50))), methods(shadow=averages(9.0, 9.0))),
    ],
    "shadows-fig-6.2": [
        *under_uniform(methods(), methods(shadow=averages(6.0, 6.0)), methods(naive=averages(6.0, 6.0))),
        *no_matter(methods(low=churn((50, 50), (9.0, 9.0))), methods(shadow=churn((50, 50)))),
    ],
    **degrees_of("shadow", 3, 4, 9, 11, 12, 15),
    **degrees_of("naive", 5, 6, 10, 13, 14, 18),
    "shadows-fig-6.7": [
        *under_uniform(methods(), methods(shadow=churn((13, 26)), naive=churn((13, 26)))),
        *no_matter(methods(shadow=churn((5, 5), (9.0, 9.0))), methods(naive=churn((13, 99)))),
    ],
    "shadows-fig-6.8": [
        *under_uniform(methods(), methods(shadow=averages(4.0, 6.0), naive=averages(4.0, 6.0))),
        *no_matter(methods(shadow=churn((99, 99), (1.0, 1.0))), methods(naive=averages(9.0, 9.0))),
    ],
    "shadows-fig-6.16": [
        *everywhere(
            methods(), churn(restless), churn((22, 13)), churn((13, 13)), method="shadow", popularity="uniform"
        ),
        *everywhere(methods(), churn(restless), churn((22, 13)), churn((13, 13)), method="naive", popularity="uniform"),
        *no_matter(methods(low=churn(restless))),
    ],
    "shadows-fig-6.17": [
        *everywhere(methods(), averages(3.9, 6.0), averages(3.9, 2.5), method="rebuild", popularity="uniform"),
        *no_matter(methods(low=churn(restless, (3.9, 4.5))), methods(shadow=averages(4.0, 40.0))),
    ],
    "shadows-fig-7.1": [
        *under_uniform(times(), times(shadow=(0.0019, 0.333)), times(shadow=(0.0034, 0.333))),
        *no_matter(times(shadow=(0.00269, 9), naive=(9, 9))),
    ],
    "shadows-fig-7.2": [
        *under_uniform(times(), times(naive=(0.0059, 2.575)), times(naive=(0.0103, 2.575))),
        *no_matter(times(shadow=(9, 9), naive=(0.00793, 9))),
    ],
    "shadows-fig-7.3": [
        *under_uniform(times(), times(shadow=(0.00269, 0.24)), times(shadow=(0.00269, 0.43))),
        *no_matter(times(shadow=(9, 0.333), naive=(9, 9))),
    ],
    "shadows-fig-7.4": [
        *under_uniform(times(), times(naive=(0.00793, 1.9), worst=1.9), times(naive=(0.00793, 3.4))),
        *no_matter(times(shadow=(9, 9), naive=(9, 2.575)), times(worst=2.575)),
    ],
    "shadows-fig-7.5": [
        *under_uniform(times(), times(worst=10), times(worst=12.8), times(naive=(15, 2.575))),
        *no_matter(times(shadow=(15, 15))),
    ],
    "shadows-fig-7.6": [
        *everywhere(times(), times(shadow=(0.00793, 0.333)), times(shadow=(0.00269, 9)), popularity="uniform"),
        *no_matter(times(shadow=(0.0079, 2.3), low=0.001)),
    ],
    "shadows-fig-7.7": [
        *under_uniform(times(), times(naive=(0.007, 2.575)), times(naive=(0.009, 2.575))),
        *no_matter(times(shadow=(0.0269, 9), naive=(0.0793, 9), low=1)),
    ],
    "shadows-fig-7.8": [
        *under_uniform(times(), times(shadow=(0.00269, 0.26)), times(shadow=(0.00269, 0.4))),
        *no_matter(times(shadow=(9, 0.333), naive=(1, 2.575), low=1)),
    ],
    "shadows-fig-7.9": [
        *under_uniform(FAST, times(shadow=(0.01, 0.1), low=5), times(shadow=(0.01, 0.5))),
        *no_matter(times(shadow=(0.0001, 0.3), naive=(99, 99))),
    ],
    "shadows-fig-7.10": [
        *under_uniform(FAST, times(naive=(0.01, 0.1), low=5), times(naive=(0.01, 0.5))),
        *no_matter(times(naive=(0.3, 0.0001), worst=0.0001, shadow=(99, 99))),
    ],
    "shadows-fig-7.11": [
        *under_uniform(shadow_sets(), shadow_sets(usual=18), shadow_sets(usual=30), shadow_sets(nodes_now=1000)),
        *no_matter(shadow_sets(usual=48, worst=190, nodes_now=4000), shadow_sets(usual=12, worst=190)),
    ],
    "shadows-fig-7.12": [
        *under_uniform(shadow_sets(), shadow_sets(worst=101), shadow_sets(nodes_now=1900)),
        *no_matter(shadow_sets(usual=90), shadow_sets(usual=1, worst=1)),
    ],
    "shadows-fig-8.1": [
        *under_uniform(repairs(), repairs(low=(9.4, 7)), repairs(low=(11.3, 10))),
        *no_matter(repairs(low=(9.4, 9.4), shadow=(9, 9))),
    ],
    "shadows-fig-8.2": [
        *under_uniform(repairs(), repairs(low=(10, 7.5)), repairs(low=(12.5, 7.5))),
        *no_matter(repairs(low=(11.3, 99), shadow=(9, 9))),
    ],
    "shadows-fig-8.3": [
        *under_uniform(repairs(), repairs(low=(11.3, 6.7)), repairs(low=(11.3, 8.3))),
        *no_matter(repairs(low=(99, 7.5), shadow=(9, 9))),
    ],
    "shadows-fig-8.4": [
        *under_uniform(repairs(), repairs(shadow=(0.061, 0.17)), repairs(shadow=(0.075, 0.17))),
        *no_matter(repairs(low=(99, 99), shadow=(0.068, 9), naive=(9, 9))),
    ],
    "shadows-fig-8.5": [
        *under_uniform(repairs(), repairs(shadow=(0.068, 0.15)), repairs(shadow=(0.068, 0.19))),
        *no_matter(repairs(low=(99, 99), shadow=(9, 0.17), naive=(9, 9))),
    ],
    "shadows-fig-8.6": [
        *under_uniform(links(), links(low=(600, 490)), links(low=(730, 700))),
        *no_matter(links(low=(610, 610), shadow=(99, 99), naive=(99, 99))),
    ],
    "shadows-fig-8.7": [
        *under_uniform(links(), links(shadow=(4, 12)), links(shadow=(6, 12))),
        *no_matter(links(low=(9, 9), shadow=(5, 99), naive=(9, 9))),
    ],
    "shadows-fig-8.8": [
        *under_uniform(links(), links(shadow=(5, 11)), links(shadow=(5, 14))),
        *no_matter(links(low=(9, 9), shadow=(99, 12), naive=(9, 9))),
    ],
    "shadows-fig-8.9": [
        *everywhere(repairs(), repairs(shadow=(11.3, 0.17)), repairs(shadow=(0.068, 8)), popularity="uniform"),
        *no_matter(repairs(shadow=(11, 7), naive=(99, 99))),
    ],
    "shadows-fig-8.10": [
        *under_uniform(FEW, links(low=(390, 390), shadow=(2, 6)), links(shadow=(8, 8))),
        *no_matter(links(shadow=(9, 2), naive=(999, 999))),
    ],
    "shadows-fig-8.11": [
        *under_uniform(FEW, links(low=(390, 390), naive=(2, 6)), links(naive=(8, 8))),
        *no_matter(links(naive=(9, 2), shadow=(999, 999))),
    ],
}


@pytest.mark.parametrize(
    ("claim", "results", "holds"), [(claim, *case) for claim, cases in HOLDS_AND_FAILS.items() for case in cases]
)
def test_a_claim_holds_or_fails(claim: str, results: Results, holds: bool) -> None:
    assert verdict_on(claim, results).holds is holds


def test_no_claim_is_forgotten() -> None:
    claims = [claim.id for figure in FIGURES.values() if figure.paper == "Shadows" for claim in figure.claims]
    assert sorted(HOLDS_AND_FAILS) == sorted(claims)
    for cases in HOLDS_AND_FAILS.values():
        assert {holds for _, holds in cases} == {True, False}
