"""`./dev bench --check`: what it names, and when it measures again."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks import check


class Ratio:
    """A ratio that gives some values one after the other."""

    def __init__(self, name: str, *values: float) -> None:
        self.name = name
        self.values = list(values)

    def measure(self) -> float:
        return self.values.pop(0)


def checked(baseline: Path, *ratios: Ratio, renew: bool = False) -> tuple[bool, str]:
    """Whether nothing is worse, and what is printed."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "BASELINE", baseline)
        fine = check.check(Console(file=printed, width=200), {"some part": lambda: ratios}, renew=renew)  # type: ignore[dict-item,return-value]
    return fine, printed.getvalue()


def test_only_what_grew_by_more_than_a_quarter_is_named(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"some part": {"same": 4.0, "worse": 4.0, "better": 4.0}}))
    ratios = [Ratio("same", 4.9), Ratio("worse", 6.0, 5.2, 5.1), Ratio("better", 1.0)]
    fine, printed = checked(baseline, *ratios)
    assert not fine
    assert [line for line in printed.splitlines() if "times its baseline" in line] == [
        "some part: worse: 5.1, 1.27 times its baseline of 4"
    ]


def test_what_is_fine_when_measured_again_is_fine(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"some part": {"one": 4.0}}))
    again = Ratio("one", 9.0, 4.1, 9.0)
    assert checked(baseline, again)[0]
    assert again.values == [9.0]


def test_the_baseline_is_renewed_on_purpose_only(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"another part": {"kept": 1.0}}))
    fine, printed = checked(baseline, Ratio("new", 3.0))
    assert not fine
    assert "some part: new: has no baseline; run with --renew, and commit it" in printed
    assert json.loads(baseline.read_text()) == {"another part": {"kept": 1.0}}
    assert checked(baseline, Ratio("new", 3.0), renew=True)[0]
    assert json.loads(baseline.read_text()) == {"another part": {"kept": 1.0}, "some part": {"new": 3.0}}
    assert checked(baseline, Ratio("new", 3.5))[0]
