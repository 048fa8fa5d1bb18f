"""A backbone on Spark: the same links as on one machine, whatever the partitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from topicloom import design
from topicloom.designers import DESIGNERS
from topicloom.designers.backbone import leaves
from topicloom.model import InputError, Interest, Overlay
from topicloom.pipeline.analysis.evaluate import evaluate
from topicloom.pipeline.designing.design_on_spark import design_on_spark
from topicloom.pipeline.ingesting.ingest import ingest
from topicloom.workloads import synthetic


@pytest.fixture(scope="module")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    interest = synthetic(800, 60, popularity="zipf", alpha=0.9, sizes="power-law", min_topics=2, max_topics=20, seed=4)
    interest.write(folder / "subs.parquet")
    ingest(spark, [folder / "subs.parquet"], folder / "fleet")
    return folder / "fleet"


@pytest.mark.parametrize(
    "parameters", [{}, {"core_size": 5, "core": "low-oda"}, {"core_size": 20, "max_degree": 12}, {"max_degree": 3}]
)
def test_links_are_those_of_one_machine(
    spark: SparkSession, fleet: Path, tmp_path: Path, parameters: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaves, "_BLOCK_SUBSCRIPTIONS", 700)
    expected = design(Interest.read(fleet), "backbone", **parameters)
    found = design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, parameters))
    expected.write(tmp_path / "one.parquet")
    found.overlay.write(tmp_path / "spark.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "spark.parquet").read_bytes()
    assert found.overlay.degrees.max() <= parameters.get("max_degree", 800)


def test_topics_are_connected_as_evaluate_sees_it(spark: SparkSession, fleet: Path, tmp_path: Path) -> None:
    found = design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, {"core_size": 10}))
    found.overlay.write(tmp_path / "overlay.parquet")
    assert found.merged == found.subscriptions - found.topics
    assert evaluate(spark, fleet, tmp_path / "overlay.parquet", diameters=False).measures.topic_connected
    assert len(Overlay.read(tmp_path / "overlay.parquet", Interest.read(fleet))) == len(found.overlay)


def test_other_designers_stay_on_one_machine(spark: SparkSession, fleet: Path) -> None:
    with pytest.raises(InputError) as caught:
        design_on_spark(spark, fleet, DESIGNERS.prepare("gm", 0, {}))
    assert str(caught.value) == "gm runs on one machine only; on Spark there is backbone"


def test_a_core_larger_than_the_fleet_is_refused(spark: SparkSession, fleet: Path) -> None:
    with pytest.raises(InputError, match="core_size is 801 and there are 800 nodes"):
        design_on_spark(spark, fleet, DESIGNERS.prepare("backbone", 0, {"core_size": 801}))
