"""CCDFs against a plain count."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topicloom.experiments.runs import run_ccdf
from topicloom.model import Interest

pairs = st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("uvwxyz")), min_size=1)


def plain(names: list[str]) -> dict[int, float]:
    """Of each size that occurs, the share of the names that come up at least so often."""
    sizes = list(Counter(names).values())
    return {size: sum(other >= size for other in sizes) / len(sizes) for size in sizes}


@given(pairs)
def test_ccdfs_are_those_of_a_plain_count(found: set[tuple[str, str]]) -> None:
    rows = run_ccdf({}, Interest.from_pairs(found)).to_pylist()
    for of, place in (("followees", 0), ("followers", 1)):
        ours = [(row["size"], row["share"]) for row in rows if row["of"] == of]
        assert ours == sorted(plain([pair[place] for pair in found]).items())
    assert {row["of"] for row in rows} == {"followees", "followers"}
