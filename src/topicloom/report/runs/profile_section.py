"""The section of a profile, from the folder that `topicloom profile` wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.files.whole_folder import MANIFEST
from topicloom.pipeline.analysis.profile_folder import (
    CCDF,
    COMMON_TOPICS,
    PROFILE,
    ProfileFigures,
    read_profile_figures,
)
from topicloom.present.figures import read_svg
from topicloom.present.html import Cell
from topicloom.present.numbers import Number, amount, count, mean, percent
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.section import Section, beside, paragraph, picture, table, tiles

PROFILED = Form("profile", parts=(MANIFEST, PROFILE))

_QUANTILES = ("0.1", "0.5", "0.9", "0.99")
_POPULAR = ("0.01", "0.1", "0.2")


@dataclass(frozen=True)
class ShownProfile:
    """What subscriptions look like, which version found it, and the two pictures of it."""

    name: str
    version: str
    figures: ProfileFigures
    ccdf: bytes
    common_topics: bytes


def read_profiles(reading: Reading) -> list[ShownProfile]:
    """Read all profiles."""
    return [replace(profile, name=name) for name, profile in reading.named(PROFILED, _profile)]


def _profile(folder: Path) -> ShownProfile:
    manifest, figures = read_profile_figures(folder)
    return ShownProfile(folder.name, manifest.version, figures, read_svg(folder, CCDF), read_svg(folder, COMMON_TOPICS))


def profile_section(profile: ShownProfile) -> Section:
    """Sizes and how they are distributed, and what designing would take."""
    found = profile.figures
    shared, popular = found.common_topics, found.subscriptions_in_most_popular
    facts = [
        ("nodes", count(found.nodes)),
        ("topics", count(found.topics)),
        ("subscriptions", count(found.subscriptions)),
        *((f"of them in the top {float(share):.0%} of topics", percent(popular.get(share))) for share in _POPULAR),
        ("pairs of nodes that share a topic", count(shared.pairs)),
    ]
    rows: list[list[Cell]] = [
        [
            things,
            count(sizes.min),
            *(count(sizes.quantiles.get(share)) for share in _QUANTILES),
            count(sizes.max),
            mean(sizes.mean),
        ]
        for things, sizes in (
            ("topics per node", found.topics_per_node),
            ("nodes per topic", found.nodes_per_topic),
            ("topics that pairs of nodes share", shared.common_topics),
        )
    ]
    headers = ["what", "least", *(f"{float(share):.0%}" for share in _QUANTILES), "most", "mean"]
    estimated = " What pairs share is estimated from a sample." if not shared.exact else ""
    pictures = [
        picture(profile.ccdf, "Topics per node, nodes per topic", "Which share has at least that size."),
        picture(profile.common_topics, "Topics that pairs share", f"Pairs that share one or more.{estimated}"),
    ]
    memory: list[list[Cell]] = [[need.designer, _megabytes(need.bytes)] for need in found.designer_memory]
    return Section(
        f"Profile: {profile.name}",
        (
            paragraph(f"How subscriptions are distributed, from {profile.name} (topicloom {profile.version})."),
            tiles(facts),
            beside(pictures),
            table("Sizes", headers, rows, note=f"Below 50% stands the size that half of them do not pass.{estimated}"),
            table("Memory that designing would take", ["designer", "memory"], memory),
        ),
    )


def _megabytes(need: int) -> Number:
    return Number(need, f"{amount(need / 1e6).text} MB")


KIND = Kind(
    name="profiles",
    forms=(PROFILED,),
    read=read_profiles,
    section=profile_section,
    facts=lambda profile: profile.name,
    line=lambda profile: f"profile {profile.name}",
)
