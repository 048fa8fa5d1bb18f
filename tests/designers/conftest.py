"""What tests of designers share."""

from __future__ import annotations

import pytest

from topicloom.designers.greedy import merging


@pytest.fixture(params=[True, False], ids=["bitsets", "lists"])
def _representation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to keep topics, whichever an interest would get."""
    monkeypatch.setattr(merging, "prefers_bitsets", lambda interest: request.param)
