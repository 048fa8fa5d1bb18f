"""A maintainer as a file: who wants what, the links in their order, who stands in for whom, and the random state.

The file is two lines: JSON, and its checksum. A maintainer that is read back does all that the one that was written
would have done, though numbers inside differ.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicloom.churn.live_overlay import Link, LiveOverlay
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.mending_maintainer import MendingMaintainer
from topicloom.churn.methods import Settings, mending
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.model.constraints import Constraints
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices

_FORMAT = 1


@dataclass(frozen=True)
class Snapshot:
    """A maintainer after an event, None where it has seen none; `origin` tells what it began with."""

    maintainer: Maintainer
    settings: Settings
    origin: str
    last_event: int | None
    constraints: Constraints | None = None
    prices: Prices | None = None


def checksum(text: str) -> str:
    """Eight digits that change with the text."""
    return f"{zlib.crc32(text.encode()):08x}"


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write a maintainer; the file is on the disk when this returns."""
    maintainer = snapshot.maintainer
    overlay = maintainer.overlay()
    interest = overlay.interest
    names = interest.node_names
    assert overlay.contribution is not None
    columns = (overlay.source.tolist(), overlay.target.tolist(), overlay.contribution.tolist())
    content: dict[str, Any] = {
        "format": _FORMAT,
        "settings": asdict(snapshot.settings),
        "origin": snapshot.origin,
        "constraints": None if snapshot.constraints is None else snapshot.constraints.text,
        "prices": None if snapshot.prices is None else snapshot.prices.text,
        "last_event": snapshot.last_event,
        "nodes": {node: maintainer.topics_of(node) for node in names},
        "links": [[names[u], names[v], contribution] for u, v, contribution in zip(*columns, strict=True)],
    }
    if isinstance(maintainer, MendingMaintainer):
        content["backups"] = maintainer.backups()
        content["random"] = int(maintainer.live.scratch.random[0])
    text = json.dumps(content, ensure_ascii=False)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n{checksum(text)}\n")
        file.flush()
        os.fsync(file.fileno())


def read_snapshot(path: Path) -> Snapshot:
    """Read a maintainer."""
    text, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    if rest != checksum(text) + "\n":
        raise InputError(f"{path}: is damaged; its checksum is wrong")
    content = json.loads(text)
    if content["format"] != _FORMAT:
        raise InputError(f"{path}: was written by another version of Topicloom (format {content['format']})")
    settings = Settings(**content["settings"])
    # A snapshot of an earlier version knows neither constraints nor prices.
    text_of_constraints, text_of_prices = content.get("constraints"), content.get("prices")
    constraints = None if text_of_constraints is None else Constraints.from_text(text_of_constraints)
    prices = None if text_of_prices is None else Prices.from_text(text_of_prices)
    made = _maintainer(content, settings, constraints, prices)
    return Snapshot(made, settings, content["origin"], content["last_event"], constraints, prices)


def _maintainer(
    content: dict[str, Any], settings: Settings, constraints: Constraints | None, prices: Prices | None
) -> Maintainer:
    pairs = ((node, topic) for node, topics in content["nodes"].items() for topic in topics)
    interest = Interest.from_pairs(pairs, filters=PLAIN)
    ids = interest.node_ids
    links = [(ids[source], ids[target], contribution) for source, target, contribution in content["links"]]
    table = np.array(links, np.int32).reshape(-1, 3)
    overlay = Overlay(interest, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())
    if settings.method == "rebuild":
        return RebuildMaintainer(overlay, settings.rule, settings.rho, constraints, prices)
    live = LiveOverlay(overlay, content["random"], constraints, prices)
    live.set_backups(content["backups"])
    return mending(live, settings)


def origin_of(overlay: Overlay) -> str:
    """One text for an overlay and its interest, to tell whether a state began with them."""
    names = overlay.interest.node_names
    ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    links = json.dumps([Link(names[u], names[v]) for u, v in ends])
    return f"{overlay.interest.fingerprint}-{checksum(links)}"
