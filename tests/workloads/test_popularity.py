from __future__ import annotations

import numpy as np
import pytest

from topicloom.model import InputError
from topicloom.workloads.interests import POPULARITIES, log_weights, popular_topics, probabilities


@pytest.mark.parametrize("topics", [2, 3, 9, 10, 14, 16, 100, 1_000, 10_000, 1_000_000])
def test_the_ten_percent_most_popular_topics_draw_55_percent_of_the_choices(topics: int) -> None:
    chances = probabilities("exponential", topics)
    assert chances[: popular_topics(topics)].sum() == pytest.approx(0.55, abs=1e-9)
    decay = chances[1:] / chances[:-1]
    assert np.allclose(decay, decay[0], rtol=1e-9, atol=0)
    assert decay[0] < 1


@pytest.mark.parametrize("topics", [100, 1_000, 10_000])
def test_steep_they_draw_84_percent(topics: int) -> None:
    """Weights exp(-c r) of rank r, c = -ln(0.45) ln(10) / (a tenth of the last rank, rounded up)."""
    chances = probabilities("steep-exponential", topics)
    decay = chances[1:] / chances[:-1]
    rate = -np.log(0.45) * np.log(10) / np.ceil(0.1 * (topics - 1))
    assert np.allclose(decay, np.exp(-rate), rtol=1e-9, atol=0)
    assert chances[: popular_topics(topics)].sum() == pytest.approx(0.84, abs=0.005)


def test_ten_percent_is_at_least_one_topic() -> None:
    assert [popular_topics(topics) for topics in (1, 4, 10, 16, 100, 1_004)] == [1, 1, 1, 2, 10, 100]


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_zipf_falls_with_the_power_of_the_rank(alpha: float) -> None:
    chances = probabilities("zipf", 500, alpha)
    assert chances[0] / chances == pytest.approx(np.arange(1, 501) ** alpha)


def test_uniform_is_alike() -> None:
    assert probabilities("uniform", 8).tolist() == [1 / 8] * 8


@pytest.mark.parametrize("popularity", POPULARITIES)
@pytest.mark.parametrize("topics", [1, 2, 1_000])
def test_chances_add_up_to_one(popularity: str, topics: int) -> None:
    assert probabilities(popularity, topics).sum() == pytest.approx(1)


def test_a_steep_zipf_keeps_apart_topics_whose_weight_underflows() -> None:
    logs = log_weights("zipf", 10_000, 1000.0)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()
    assert np.exp(logs[-1]) == 0


@pytest.mark.parametrize("alpha", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_bad_alpha_is_refused(alpha: float) -> None:
    with pytest.raises(InputError, match=r"^alpha is .*; give a number above 0 and at most 1000$"):
        log_weights("zipf", 10, alpha)
