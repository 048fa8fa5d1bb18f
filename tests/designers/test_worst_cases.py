"""The papers' worst cases."""

from __future__ import annotations

import pytest

from effort import times
from reference.greedy import low_oda
from reference.worst_cases import cuboid, hub
from topicloom import design, measure


class TestCuboid:
    """GM 2007, lemma 6.6: gm takes 2k + km links where 2k + 2m are enough.

    It does so however ties are broken and nodes are named. Every topic is wanted by one Stwo_p, one Sk_i and one
    Sm_j. A link (Stwo_p, Sm_j) would merge 2^(i-1) components for every i for which (Stwo_p, Sk_i) and (Sk_i, Sm_j)
    are not both there, so less than 2^i for the highest such i; but the missing one of these two merges m 2^(i-1)
    or 2^i, which is more where m > 1. So (Stwo_p, Sm_j) is never added, and all 2k + km others have to be.

    The paper says that all links (Stwo_p, Sk_i) come first. That needs m 2^(i-1) > 2^k for all i, so m > 2^k; the
    number of links does not need it. Nor are 2k + 2m links the fewest for k = 1: gm itself takes 2 + m.
    """

    CASES = [(k, m) for k in (1, 2, 3, 4, 5) for m in (2, 3, 4, 7)] + [(6, 6), (7, 3), (2, 20)]

    @pytest.mark.parametrize(("k", "m"), CASES)
    def test_gm_takes_2k_plus_km_links(self, k: int, m: int) -> None:
        case = cuboid(k, m)
        assert case.interest.node_count == 2 + k + m
        assert case.interest.topic_count == 2 * (2**k - 1) * m
        assert case.interest.subscription_count == 3 * case.interest.topic_count
        overlay = design(case.interest, "gm")
        assert len(overlay) == 2 * k + k * m
        assert measure(case.interest, overlay, diameters=False).topic_connected

    @pytest.mark.parametrize(("k", "m"), CASES)
    def test_2k_plus_2m_links_are_enough(self, k: int, m: int) -> None:
        case = cuboid(k, m)
        assert len(case.good) == 2 * k + 2 * m
        assert measure(case.interest, case.good, diameters=False).topic_connected

    @pytest.mark.parametrize(("k", "m"), [(3, 3), (4, 4), (5, 2)])
    def test_names_do_not_matter(self, k: int, m: int) -> None:
        for seed in range(times(10)):
            assert len(design(cuboid(k, m, seed).interest, "gm")) == 2 * k + k * m, f"seed {seed}"

    def test_first_2k_links_are_the_papers_where_m_is_large(self) -> None:
        overlay = design(cuboid(3, 9).interest, "gm")
        assert overlay.contribution[:6].tolist() == [9 * 4, 9 * 4, 9 * 2, 9 * 2, 9, 9]
        assert overlay.contribution[6:].tolist() == [8] * 9 + [4] * 9 + [2] * 9


class TestHub:
    """Low 2010, lemma 1: minmax-oda takes a number of links of the order n^2 where n - 1 are enough.

    The paper counts n(n-2)/2 links in n - 2 perfect matchings. That counts links that contribute nothing: as
    printed, which is `matching` "maximal", the algorithm adds any link that leaves the highest degree alone before one
    that raises it. And one more phase is needed, because v_1 alone shares t_ii with v_i: v_1 ends with n - 1 links, one
    a phase. So the algorithm as printed takes n(n-2)/2 + 1 links where all its matchings are perfect, and a few less
    where some are not.

    By default ours never adds a link that contributes nothing, and so takes less: once v_i and v_j are both linked
    with v_1, their own link has nothing left to merge. Still, nodes that v_1 has not met and that are below the highest
    degree at the end of phase r are all linked among themselves, so they are r at most; the other n - 1 - 2r have r
    links each, which for r = n/4 comes to n^2/16 links or more. Between n^2/4 and 3n^2/8 were found for every n tried.
    """

    SIZES = range(4, 41, 2)

    @pytest.mark.parametrize("n", SIZES)
    def test_minmax_oda_takes_a_quarter_of_n_squared_links(self, n: int) -> None:
        case = hub(n)
        assert (case.interest.node_count, case.interest.topic_count) == (n, n * n)
        overlay = design(case.interest, "minmax-oda")
        found = measure(case.interest, overlay, diameters=False)
        assert found.topic_connected
        assert found.max_degree == n - 1
        assert n * n / 4 <= len(overlay) <= 3 * n * n / 8
        assert overlay.contribution.min() >= 1

    @pytest.mark.parametrize("n", SIZES)
    def test_n_minus_1_links_are_enough_and_gm_finds_them(self, n: int) -> None:
        case = hub(n)
        assert len(case.good) == n - 1
        assert measure(case.interest, case.good, diameters=False).topic_connected
        best = design(case.interest, "gm")
        assert {*zip(best.source.tolist(), best.target.tolist(), strict=True)} == {(0, v) for v in range(1, n)}

    @pytest.mark.parametrize("n", [4, 6, 8, 10, 12])
    def test_as_printed_it_takes_the_papers_number_give_or_take_one(self, n: int) -> None:
        steps = low_oda(hub(n).interest, maximal=True)
        assert len(design(hub(n).interest, "minmax-oda", matching="maximal")) == len(steps)
        assert abs(len(steps) - n * (n - 2) // 2) <= 1
        assert sum(merged for *_, merged in steps) == hub(n).interest.subscription_count - n * n
        idle = sum(merged == 0 for *_, merged in steps)
        assert (idle == 0) == (n == 4)

    @pytest.mark.parametrize("n", [4, 6, 8, 10])
    def test_names_do_not_matter(self, n: int) -> None:
        expected = len(low_oda(hub(n).interest))
        for seed in range(times(10)):
            assert len(design(hub(n, seed).interest, "minmax-oda")) == expected, f"seed {seed}"

    @pytest.mark.parametrize("n", [8, 16, 32])
    def test_low_oda_with_a_small_k_escapes(self, n: int) -> None:
        """Links with v_1 merge at least 3 where others merge 2: k = 1 takes the fewest links, large k the most."""
        links = {k: len(design(hub(n).interest, "low-oda", k=k)) for k in (1, 3, n * n)}
        assert links[1] == n - 1
        assert links[1] <= links[3] <= links[n * n] == len(design(hub(n).interest, "minmax-oda"))
