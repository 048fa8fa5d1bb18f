"""A backbone on Spark: the same links as on one machine, whatever the partitions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from topicloom import design
from topicloom.designers import DESIGNERS, backbone, backbone_repair
from topicloom.model import InputError, Interest, Overlay
from topicloom.model.overlay import read_fingerprint
from topicloom.spark import design as written_design
from topicloom.spark.design import SparkDesign, design_on_spark, write_design
from topicloom.spark.evaluate import evaluate
from topicloom.spark.ingest import ingest
from topicloom.workloads import synthetic


@pytest.fixture(scope="module")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    interest = synthetic(300, 40, popularity="zipf", alpha=0.9, sizes="power-law", min_topics=2, max_topics=20, seed=4)
    interest.write(folder / "subs.parquet")
    ingest(spark, [folder / "subs.parquet"], folder / "fleet")
    return folder / "fleet"


@pytest.fixture(scope="module")
def designed(spark: SparkSession, fleet: Path) -> SparkDesign:
    return design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, {"core_size": 10}))


@pytest.mark.parametrize("parameters", [{}, {"core_size": 20, "core": "low-oda", "max_degree": 12}, {"max_degree": 3}])
def test_links_are_those_of_one_machine(
    spark: SparkSession, fleet: Path, tmp_path: Path, parameters: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 300)
    monkeypatch.setattr(backbone_repair, "_ROUNDS", 3)
    expected = design(Interest.read(fleet), "backbone", **parameters)
    found = design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, parameters))
    expected.write(tmp_path / "one.parquet")
    write_design(spark, fleet, found, tmp_path / "spark.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "spark.parquet").read_bytes()
    assert found.max_degree == expected.degrees.max()
    assert found.max_degree <= parameters.get("max_degree", 300)


def test_topics_are_connected_as_evaluate_sees_it(
    spark: SparkSession, fleet: Path, designed: SparkDesign, tmp_path: Path
) -> None:
    write_design(spark, fleet, designed, tmp_path / "overlay.parquet")
    assert designed.merged == designed.subscriptions - designed.topics
    assert evaluate(spark, fleet, tmp_path / "overlay.parquet", diameters=False).measures.topic_connected


@pytest.fixture(scope="module")
def folder(spark: SparkSession, fleet: Path, designed: SparkDesign, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written twice: a second run takes the place of the first, and of what a killed one left."""
    place = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(written_design, "PART_LINKS", 100)
        write_design(spark, fleet, designed, place / "overlay")
        (place / ".overlay.1-0123abcd.part").mkdir()
        write_design(spark, fleet, designed, place / "overlay")
    assert [path.name for path in place.iterdir()] == ["overlay"]
    return place / "overlay"


class TestFolder:
    """An overlay that the executors wrote, in parts of 100 links."""

    def test_holds_the_links_of_one_machine_in_their_order(self, fleet: Path, folder: Path) -> None:
        interest = Interest.read(fleet)
        expected, found = design(interest, "backbone", core_size=10), Overlay.read(folder, interest)
        assert len(list(folder.glob("links-*.parquet"))) == -(-len(expected) // 100)
        for column in ("source", "target", "contribution"):
            assert (getattr(found, column) == getattr(expected, column)).all()
        assert found.provenance == expected.provenance
        assert read_fingerprint(folder) == interest.fingerprint

    def test_is_evaluated(self, spark: SparkSession, fleet: Path, folder: Path) -> None:
        assert evaluate(spark, fleet, folder, diameters=False).measures.topic_connected

    def test_a_part_that_is_lost_is_missed(self, fleet: Path, folder: Path, tmp_path: Path) -> None:
        shutil.copytree(folder, tmp_path / "overlay")
        (tmp_path / "overlay" / "links-00002.parquet").unlink()
        with pytest.raises(InputError, match=r"overlay: has lost links-00002.parquet; design the overlay again"):
            Overlay.read(tmp_path / "overlay", Interest.read(fleet))

    def test_other_folders_are_not_written_over(self, spark: SparkSession, fleet: Path, designed: SparkDesign) -> None:
        with pytest.raises(InputError, match="is a folder with other things in it; give a new folder or an overlay's"):
            write_design(spark, fleet, designed, fleet)


def test_other_designers_stay_on_one_machine(spark: SparkSession, fleet: Path) -> None:
    with pytest.raises(InputError) as caught:
        design_on_spark(spark, fleet, DESIGNERS.prepare("gm", 0, {}))
    assert str(caught.value) == "gm runs on one machine only; on Spark there is backbone"


def test_a_core_larger_than_the_fleet_is_refused(spark: SparkSession, fleet: Path) -> None:
    with pytest.raises(InputError, match="core_size is 801 and there are 300 nodes"):
        design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, {"core_size": 801}))
