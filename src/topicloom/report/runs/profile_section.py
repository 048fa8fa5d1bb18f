"""The section of a profile, from the folder that `topicloom profile` wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.files.json_files import Fields
from topicloom.present.html import Cell
from topicloom.present.numbers import Number, amount, count, mean, percent
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.section import Section, beside, paragraph, picture, table, tiles
from topicloom.report.runs.svg_files import read_svg

PROFILE = Form("profile", parts=("manifest.json", "profile.json"))

_QUANTILES = ("0.1", "0.5", "0.9", "0.99")
_POPULAR = ("0.01", "0.1", "0.2")


@dataclass(frozen=True)
class Sizes:
    """The sizes of some things: extremes, mean, and quantiles in the order of the table."""

    things: str
    least: int
    quantiles: tuple[int, ...]
    most: int
    mean: float


@dataclass(frozen=True)
class Profile:
    """What subscriptions look like, and the bytes that each designer would need."""

    name: str
    version: str
    nodes: int
    topics: int
    subscriptions: int
    popular: tuple[float, ...]
    sizes: tuple[Sizes, ...]
    pairs: int
    sampled: bool
    memory: tuple[tuple[str, int], ...]
    ccdf: bytes
    common_topics: bytes


def read_profiles(reading: Reading) -> list[Profile]:
    """Read all profiles."""
    return [replace(profile, name=name) for name, profile in reading.named(PROFILE, _profile)]


def _profile(folder: Path) -> Profile:
    manifest = Fields.of_kind(folder / "manifest.json", "topicloom profile")
    fields = Fields.of_file(folder / "profile.json")
    shared = fields.inside("common_topics")
    popular = fields.inside("subscriptions_in_most_popular")
    return Profile(
        name=folder.name,
        version=manifest.text("version"),
        nodes=fields.count("nodes"),
        topics=fields.count("topics"),
        subscriptions=fields.count("subscriptions"),
        popular=tuple(popular.positive(share) for share in _POPULAR),
        sizes=(
            _sizes("topics per node", fields.inside("topics_per_node")),
            _sizes("nodes per topic", fields.inside("nodes_per_topic")),
            _sizes("topics that pairs of nodes share", shared.inside("common_topics")),
        ),
        pairs=shared.count("pairs"),
        sampled=not shared.truth("exact"),
        memory=tuple((each.text("designer"), each.count("bytes")) for each in fields.each("designer_memory")),
        ccdf=read_svg(folder, "ccdf.svg"),
        common_topics=read_svg(folder, "common_topics.svg"),
    )


def _sizes(things: str, fields: Fields) -> Sizes:
    quantiles = fields.inside("quantiles")
    return Sizes(
        things,
        fields.count("min"),
        tuple(quantiles.count(share) for share in _QUANTILES),
        fields.count("max"),
        fields.positive("mean"),
    )


def profile_section(profile: Profile) -> Section:
    """Sizes and how they are distributed, and what designing would take."""
    facts = [
        ("nodes", count(profile.nodes)),
        ("topics", count(profile.topics)),
        ("subscriptions", count(profile.subscriptions)),
        *(
            (f"of them in the top {float(share):.0%} of topics", percent(part))
            for share, part in zip(_POPULAR, profile.popular, strict=True)
        ),
        ("pairs of nodes that share a topic", count(profile.pairs)),
    ]
    rows: list[list[Cell]] = [
        [each.things, count(each.least), *map(count, each.quantiles), count(each.most), mean(each.mean)]
        for each in profile.sizes
    ]
    headers = ["what", "least", *(f"{float(share):.0%}" for share in _QUANTILES), "most", "mean"]
    estimated = " What pairs share is estimated from a sample." if profile.sampled else ""
    pictures = [
        picture(profile.ccdf, "Topics per node, nodes per topic", "Which share has at least that size."),
        picture(profile.common_topics, "Topics that pairs share", f"Pairs that share one or more.{estimated}"),
    ]
    memory: list[list[Cell]] = [[designer, _megabytes(need)] for designer, need in profile.memory]
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
    forms=(PROFILE,),
    read=read_profiles,
    section=profile_section,
    facts=lambda profile: profile.name,
    line=lambda profile: f"profile {profile.name}",
)
