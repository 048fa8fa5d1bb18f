"""The trade-off of designers: `search` is among them, within a size, and no point is below the bounds."""

from __future__ import annotations

import pytest

from topicloom import synthetic
from topicloom.views import trade_off as module
from topicloom.views.explorer import Job
from topicloom.views.trade_off import trade_off, trade_off_html


def test_search_has_a_point_for_each_first_aim(monkeypatch: pytest.MonkeyPatch) -> None:
    interest = synthetic(30, 12, min_topics=3, seed=1)
    found = trade_off(interest, Job(1))
    tried = {each.name: each.measures for each in found.tried}
    assert tried["search"].links == min(each.links for each in tried.values() if each.topic_connected)
    lowest = min(each.max_degree for each in tried.values() if each.topic_connected)
    assert tried["search, degree first"].max_degree == lowest
    assert all(each.links >= found.bounds.links for each in tried.values() if each.topic_connected)
    page = str(trade_off_html(found, []))
    assert "search, exact" in page
    assert "of other packages" not in page
    monkeypatch.setattr(module, "SEARCHED_NODES", 29)
    names = {each.name for each in trade_off(interest, Job(2)).tried}
    assert "gm" in names
    assert not names & {"search", "search, degree first"}
