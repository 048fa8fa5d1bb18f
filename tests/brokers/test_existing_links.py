"""Import: the links that configurations make, as people write them and as we render them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lint_fleets import FLEETS
from plans import plan_of

from topicloom import InputError, Interest, Overlay, synthetic
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.kinds.nats import parse_nats
from topicloom.brokers.lint import existing_links
from topicloom.brokers.plan_file import render
from topicloom.model.overlay import write_links


@pytest.mark.parametrize("name", FLEETS)
def test_fleets_of_people(name: str, tmp_path: Path) -> None:
    bridges = FLEETS[name].bridges
    for broker, text in bridges.items():
        (tmp_path / f"{broker}.conf").write_text(text)
    found = existing_links([tmp_path])
    told = {
        tuple(sorted((broker, to)))
        for broker, text in bridges.items()
        for to in re.findall(r"^address (\w+):1883$", text, re.MULTILINE)
    }
    assert set(found.links) == told
    assert (found.brokers, found.outside) == (tuple(sorted(bridges)), ())


@pytest.mark.parametrize("target", [kind.name for kind in KINDS.values() if kind.ending])
@pytest.mark.parametrize("seed", range(5))
def test_rendered_plans(target: str, seed: int, tmp_path: Path) -> None:
    interest = synthetic(12, 8, sizes="uniform", min_topics=1, max_topics=4, seed=seed)
    plan = plan_of(interest, "tree" if target == "nats" else "gm", target=target)
    render(plan, tmp_path / "rendered")
    found = existing_links([tmp_path / "rendered"])
    assert set(found.links) == {tuple(sorted(link)) for link in plan.links}
    assert not found.outside


def test_what_is_imported_is_an_overlay(tmp_path: Path) -> None:
    write_links([("a", "b"), ("b", "c")], tmp_path / "links.parquet")
    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t"), ("d", "t")])
    assert list(Overlay.read(tmp_path / "links.parquet", interest)) == [("a", "b"), ("b", "c")]


NATS = {
    "hub": """
        # a comment
        port: 4222
        leafnodes { listen: "0.0.0.0:7422" }
    """,
    "edge": """
        server_name = edge // its name
        leafnodes: {
          remotes: [
            { url: "nats-leaf://user:secret@hub.example.net:7422", account: "A" },
            { urls: ["nats-leaf://other.example.net", "nats-leaf://third:7422"] }
          ]
        }
    """,
    "other": "leafnodes { port 7422, remotes = [ { url: nats-leaf://elsewhere:7000 } ] }",
}


def test_leaf_nodes_of_nats(tmp_path: Path) -> None:
    for name, text in NATS.items():
        (tmp_path / f"{name}.conf").write_text(text)
    found = existing_links([tmp_path])
    assert found.links == (("edge", "hub"), ("edge", "other"))
    assert found.outside == ("other is bridged to elsewhere:7000, which is none of the given brokers",)


@pytest.mark.parametrize("text", ["leafnodes {", "a: [1, 2", "}", "a: {b: }", '"open'])
def test_configurations_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match=r"^file"):
        parse_nats(text, "file")


def test_federation_as_people_write_it(tmp_path: Path) -> None:
    for name, upstreams, policy in (
        ("a", {"up-b": "amqp://me:secret@b.example.net", "unused": "amqp://c"}, {"federation-upstream": "up-b"}),
        ("b", {"c": ["amqp://c:5672", "amqp://d"]}, {"federation-upstream-set": "all"}),
        ("c", {"x": "amqp://far.example.org"}, {"federation-upstream-set": "some"}),
    ):
        parameters: list[dict[str, Any]] = [
            {"component": "federation-upstream", "name": each, "value": {"uri": uri}} for each, uri in upstreams.items()
        ]
        parameters.append({"component": "federation-upstream-set", "name": "some", "value": [{"upstream": "x"}]})
        definitions = {"parameters": parameters, "policies": [{"name": "p", "definition": policy}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(definitions))
    found = existing_links([tmp_path])
    assert found.links == (("a", "b"), ("b", "c"))
    assert found.outside == ("c is bridged to far.example.org:5672, which is none of the given brokers",)
    (tmp_path / "d.json").write_text("[]")
    with pytest.raises(InputError, match=r"d\.json: is no file of definitions"):
        existing_links([tmp_path])
