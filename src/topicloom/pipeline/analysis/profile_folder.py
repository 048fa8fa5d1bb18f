"""What `topicloom profile` tells of an interest in figures: what it prints as JSON, and the files that pages show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from topicloom._version import __version__
from topicloom.files.json_files import Amount, Count, read_json
from topicloom.files.whole_folder import MANIFEST
from topicloom.pipeline.analysis.designer_memory import DesignerMemory
from topicloom.pipeline.analysis.distribution import SizeFigures

PROFILE = "profile.json"
CCDF, COMMON_TOPICS = "ccdf.svg", "common_topics.svg"


@dataclass(frozen=True)
class PairFigures:
    """What pairs of nodes share; estimated from `sampled_nodes` unless `exact`."""

    topic_pairs: Count
    pairs: Count
    exact: bool
    sampled_nodes: Count | None
    standard_error: Amount
    seed: int | None
    common_topics: SizeFigures


@dataclass(frozen=True)
class ProfileFigures:
    """All numbers of a profile but the full distributions; the fields are the keys of its JSON."""

    fingerprint: str
    graph: str | None
    nodes: Count
    topics: Count
    subscriptions: Count
    topics_per_node: SizeFigures
    nodes_per_topic: SizeFigures
    subscriptions_in_most_popular: Mapping[str, Amount]
    common_topics: PairFigures
    designer_memory: tuple[DesignerMemory, ...]


@dataclass(frozen=True)
class ProfileManifest:
    """What tells the folder of a profile from others."""

    kind: Literal["topicloom profile"]
    fingerprint: str
    version: str


def write_profile_figures(folder: Path, figures: ProfileFigures) -> None:
    """Write the figures of a profile, and the manifest, into its folder."""
    manifest = ProfileManifest("topicloom profile", figures.fingerprint, __version__)
    for name, content in ((PROFILE, figures), (MANIFEST, manifest)):
        (folder / name).write_text(json.dumps(asdict(content), indent=1) + "\n", encoding="utf-8")


def read_profile_figures(folder: Path) -> tuple[ProfileManifest, ProfileFigures]:
    """The manifest and the figures of the folder of a profile."""
    return read_json(folder / MANIFEST, ProfileManifest), read_json(folder / PROFILE, ProfileFigures)
