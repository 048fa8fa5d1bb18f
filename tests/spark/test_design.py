"""A backbone on Spark: the same links as on one machine, whatever the partitions."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import topicloom
from topicloom.designers import DESIGNERS, backbone, backbone_repair
from topicloom.model import InputError, Overlay
from topicloom.model.overlay import read_fingerprint
from topicloom.spark import Interned, design, evaluate
from topicloom.spark.design import design_links
from topicloom.spark.links import read_links
from topicloom.workloads import synthetic

INTEREST = synthetic(300, 40, popularity="zipf", alpha=0.9, sizes="power-law", min_topics=2, max_topics=20, seed=4)


@pytest.fixture(scope="module")
def fleet(spark: SparkSession) -> Interned:
    return Interned.of(spark, INTEREST)


@pytest.mark.parametrize("parameters", [{}, {"core_size": 20, "core": "low-oda", "max_degree": 12}, {"max_degree": 3}])
def test_links_are_those_of_one_machine(
    fleet: Interned, tmp_path: Path, parameters: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 300)
    monkeypatch.setattr(backbone_repair, "_ROUNDS", 3)
    expected = topicloom.design(INTEREST, "backbone", **parameters)
    found = design_links(fleet, DESIGNERS.prepare("backbone", 0, parameters))
    expected.write(tmp_path / "one.parquet")
    found.overlay.write(tmp_path / "spark.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "spark.parquet").read_bytes()
    assert found.max_degree == expected.degrees.max()
    assert found.max_degree <= parameters.get("max_degree", 300)


def test_the_frame_has_the_links_in_their_order(fleet: Interned) -> None:
    expected = topicloom.design(INTEREST, "backbone", core_size=10)
    frame = design(fleet, core_size=10)
    assert frame.columns == ["source", "target", "contribution"]
    assert frame.toArrow().to_pylist() == expected.to_arrow().to_pylist()
    assert evaluate(fleet, frame, diameters=False).measures.topic_connected


def test_other_designers_stay_on_one_machine(fleet: Interned) -> None:
    with pytest.raises(InputError) as caught:
        design(fleet, "gm")
    assert str(caught.value) == "gm runs on one machine only; on Spark there is backbone"


def test_topics_with_wildcards_are_refused(fleet: Interned) -> None:
    with pytest.raises(InputError, match="topics with wildcards are not for Spark"):
        design(replace(fleet, filters="mqtt"))


def test_a_core_larger_than_the_fleet_is_refused(fleet: Interned) -> None:
    with pytest.raises(InputError, match="core_size is 801 and there are 300 nodes"):
        design(fleet, core_size=801)


@pytest.fixture(scope="module")
def folder(fleet: Interned, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written twice: only an explicit wish replaces the first."""
    place = tmp_path_factory.mktemp("written") / "overlay"
    designed = design_links(fleet, DESIGNERS.prepare("backbone", 0, {"core_size": 10}))
    designed.write(str(place))
    with pytest.raises(InputError, match="overlay: holds an overlay already; give another place, or overwrite"):
        designed.write(str(place))
    designed.write(place.as_uri(), overwrite=True)
    return place


class TestFolder:
    """An overlay that Spark wrote to a folder."""

    def test_holds_the_links_of_one_machine_in_their_order(self, folder: Path) -> None:
        expected, found = topicloom.design(INTEREST, "backbone", core_size=10), Overlay.read(folder, INTEREST)
        for column in ("source", "target", "contribution"):
            assert (getattr(found, column) == getattr(expected, column)).all()
        assert found.provenance == expected.provenance
        assert read_fingerprint(folder) == INTEREST.fingerprint

    @pytest.mark.parametrize("as_uri", [False, True])
    def test_is_measured(self, fleet: Interned, folder: Path, as_uri: bool) -> None:
        links = read_links(fleet, folder.as_uri() if as_uri else str(folder))
        assert evaluate(fleet, links, diameters=False).measures.topic_connected

    def test_of_other_subscriptions_is_refused(self, spark: SparkSession, folder: Path) -> None:
        with pytest.raises(InputError, match="overlay: was designed for other subscriptions"):
            read_links(Interned.of(spark, synthetic(30, 4, min_topics=2, seed=1)), str(folder))

    def test_rows_that_are_lost_are_missed(self, fleet: Interned, folder: Path, tmp_path: Path) -> None:
        shutil.copytree(folder, tmp_path / "overlay")
        parts = sorted((tmp_path / "overlay" / "links").glob("part-*.parquet"))
        parts[-1].unlink()
        with pytest.raises(
            InputError, match=r"overlay: has .* links and its manifest says .*; design the overlay again"
        ):
            Overlay.read(tmp_path / "overlay", INTEREST)

    def test_half_written_is_refused(self, fleet: Interned, folder: Path, tmp_path: Path) -> None:
        shutil.copytree(folder, tmp_path / "overlay")
        manifest = max(
            (tmp_path / "overlay" / "manifest").glob("part-*"), key=lambda file: json.loads(file.read_text())["number"]
        )
        said = json.loads(manifest.read_text())
        manifest.unlink()
        (manifest.parent / "part-00000.json").write_text(json.dumps({**said, "state": "being written"}) + "\n")
        for read in (partial(Overlay.read, interest=INTEREST), lambda place: read_links(fleet, str(place))):
            with pytest.raises(
                InputError, match="overlay: was not written to its end, or is being written; design the overlay again"
            ):
                read(tmp_path / "overlay")
