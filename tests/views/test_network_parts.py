"""What is drawn of overlays, and what is told of what is clicked."""

from __future__ import annotations

import numpy as np
import pytest

from topicloom import InputError, Interest, Overlay, design, synthetic
from topicloom.brokers import make_plan
from topicloom.brokers.explain import explain_broker
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.views import drawing as overlay_drawing
from topicloom.views.answers import answer
from topicloom.views.drawing import SeenOverlay, seen_plan
from topicloom.views.explorer import Explored, Explorer, Wanted
from topicloom.views.network_views import ask, drawing_of, search


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    return design(synthetic(40, 12, min_topics=3, seed=1), "gm")


def test_the_same_overlay_has_the_same_places(overlay: Overlay) -> None:
    one, two = (SeenOverlay(overlay).whole.drawn.places for _ in range(2))
    assert np.array_equal(one, two)
    assert len(np.unique(one.round(3), axis=0)) == 40
    assert np.abs(one).max() <= 1.1


def test_load_counts_what_links_carry(overlay: Overlay) -> None:
    seen = SeenOverlay(overlay)
    trees = [route.links for route in seen.plan.routes]
    assert seen.load.sum() == 2 * sum(map(len, trees))
    assert seen.link_load.sum() == sum(map(len, trees))


def test_topics_tell_pieces_and_relays() -> None:
    rows = [("a", "x", "both"), ("b", "x", "sub"), ("c", "x", "pub"), ("b", "y", "both"), ("z", "y", "both")]
    interest = Interest.from_roles([*rows, ("m", "z", "both"), ("a", "z", "both")])
    seen = SeenOverlay(Overlay.from_links(interest, [("a", "m"), ("m", "c")]))
    told = answer(seen.whole, "topic", interest.topic_ids["x"])
    assert "in 3 pieces, and no relays can join them" in told["html"]
    seen = SeenOverlay(Overlay.from_links(interest, [("a", "m"), ("m", "c"), ("a", "b")]))
    told = answer(seen.whole, "topic", interest.topic_ids["x"])
    assert "2 subscribe, 2 publish" in told["html"]
    parts = {interest.node_names[row]: part for row, part in told["nodes"].items()}
    assert parts == {"a": "sub", "b": "sub", "c": "pub", "m": "relay"}
    assert len(told["links"]) == 3
    with pytest.raises(InputError, match="there is no topic 99"):
        answer(seen.whole, "topic", 99)


def test_brokers_tell_what_they_would_take_down(overlay: Overlay) -> None:
    drawing = SeenOverlay(overlay).whole
    hub = int(overlay.degrees.argmax())
    reasons = explain_broker(drawing.seen.plan, overlay.interest.node_names[hub])
    assert f"Would take down ({len(reasons.splits)})" in answer(drawing, "node", hub)["html"]


def test_a_plan_is_seen_with_its_own_trees() -> None:
    interest = Interest.from_roles([("a", "x", "sub"), ("b", "x", "pub"), ("c", "x", "both")])
    fleet = fleet_from_tables({"brokers": {name: {"host": name} for name in "abc"}})
    plan = make_plan(interest, design(interest, "gm"), fleet)
    seen = seen_plan(plan)
    assert seen.plan is plan
    assert seen.overlay.interest == interest
    assert set(seen.overlay) == {tuple(sorted(link)) for link in plan.links}


def test_many_nodes_are_drawn_in_groups(overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay_drawing, "MOST_NODES", 20)
    explorer = Explorer(Explored(None), lambda question, named: [])
    explorer.collection.add("gm", overlay, Wanted("subs", overlay.interest, "subs"))
    whole = drawing_of(explorer, 0)
    assert whole.grouped
    assert sum(len(whole.members(row)) for row in range(len(whole.drawn.names))) == 40
    part = drawing_of(explorer, 0, "group-0")
    assert list(part.nodes) == list(whole.members(0))
    assert "Show only these" in ask(explorer, "0:", "node", 0)["html"]
    assert {kind for kind, _, _ in search(explorer, "0:", "01")} == {"node", "topic"}
    with pytest.raises(InputError, match="there is no group 999"):
        drawing_of(explorer, 0, "group-999")


def test_regions_are_groups(overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay_drawing, "MOST_NODES", 20)
    regions = {name: "eu" if at % 2 else "us" for at, name in enumerate(overlay.interest.node_names)}
    assert SeenOverlay(overlay, regions).whole.drawn.names == ("eu", "us")


def test_places_make_a_map(overlay: Overlay) -> None:
    located = {name: (float(at), float(-at)) for at, name in enumerate(overlay.interest.node_names)}
    places = SeenOverlay(overlay, located=located).whole.drawn.places
    assert (np.diff(places[:, 0]) < 0).all()
    assert (np.diff(places[:, 1]) > 0).all()
