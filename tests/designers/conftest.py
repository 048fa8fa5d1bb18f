"""What tests of designers share."""

from __future__ import annotations

import pytest

from topicloom.designers.greedy import merging


@pytest.fixture(params=["bitsets", "bitsets in order", "lists"])
def _representation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways to keep topics and to order nodes, whichever an interest would get."""
    monkeypatch.setattr(merging, "prefers_bitsets", lambda interest: request.param != "lists")
    if request.param.endswith("in order"):
        monkeypatch.setattr(merging, "_EQUAL_LINKS", 0)
