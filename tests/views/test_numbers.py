"""Numbers as people read them."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.views import numbers


def test_every_share_of_four_digits_reads_as_itself() -> None:
    for tenthousandths in range(10_001):
        share = tenthousandths / 10_000
        exact = Decimal(tenthousandths) / 10_000
        assert str(numbers.share(share)) == ("1" if share == 1 else f"{exact:.4f}")
        assert str(numbers.percent(share)) == (f"{share:.0%}" if share in (0, 1) else f"{100 * exact:.2f}%")


@given(st.integers(1, 10**9), st.data())
def test_shares_are_rounded_down_and_only_a_full_one_reads_as_full(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole - 1))
    down = (Decimal(part) / whole).quantize(Decimal("0.0001"), ROUND_DOWN)
    assert str(numbers.share(part / whole)) == f"{down:.4f}"
    assert numbers.percent(part / whole).text in (f"{100 * down:.2f}%", "0%")


@pytest.mark.parametrize(
    ("counted", "text"),
    [
        (numbers.count_of(0, "bridge"), "0 bridges"),
        (numbers.count_of(1, "bridge"), "1 bridge"),
        (numbers.count_of(12_345, "bridge"), "12,345 bridges"),
        (numbers.count_of(2, "pair of nodes", "pairs of nodes"), "2 pairs of nodes"),
    ],
)
def test_a_thing_is_one_and_others_are_many(counted: str, text: str) -> None:
    assert counted == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (numbers.count(1234), "1,234"),
        (numbers.mean(2.345), "2.35"),
        (numbers.seconds(1234.5678), "1,234.568"),
        (numbers.milliseconds(0.0123456), "12.346 ms"),
        (numbers.amount(12.3456789), "12.3457"),
        (numbers.amount(1_234_567.8), "1,234,568"),
        (numbers.amount(None), "–"),
        (numbers.share(None), "–"),
        (numbers.seconds(None), "–"),
    ],
)
def test_a_number_is_its_text(number: numbers.Number, text: str) -> None:
    assert str(number) == f"{number}" == number.text == text
