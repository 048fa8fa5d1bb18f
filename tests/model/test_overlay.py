from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from reference.interests import SHAPES, random_interest
from topicloom import DESIGNERS, __version__, design
from topicloom.model import Interest, Overlay, Provenance

INTEREST = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t"), ("c", "u"), ('d "é"/\n', "u"), ("lone", "v")])
ODD = 'd "é"/\n'


def links(overlay: Overlay) -> list[tuple[str, str]]:
    names = overlay.interest.node_names
    return [(names[u], names[v]) for u, v in zip(overlay.source, overlay.target, strict=True)]


class TestFromLinks:
    def test_keeps_the_order_and_puts_the_lower_end_first(self) -> None:
        overlay = Overlay.from_links(INTEREST, [(ODD, "c"), ("a", "b"), ("c", "b")])
        assert links(overlay) == [("c", ODD), ("a", "b"), ("b", "c")]
        assert (overlay.source < overlay.target).all()
        assert (overlay.contribution, overlay.provenance) == (None, None)
        assert overlay.source.dtype == overlay.target.dtype == np.int32

    def test_takes_links_between_nodes_that_share_nothing(self) -> None:
        assert links(Overlay.from_links(INTEREST, iter([("lone", "a")]))) == [("a", "lone")]

    def test_takes_no_links(self) -> None:
        overlay = Overlay.from_links(INTEREST, [])
        assert len(overlay) == 0
        assert overlay.degrees.tolist() == [0] * 5

    def test_degrees_count_both_ends(self) -> None:
        assert Overlay.from_links(INTEREST, [("a", "b"), ("c", "a")]).degrees.tolist() == [2, 1, 1, 0, 0]


class TestImmutable:
    def test_arrays_and_fields_refuse_writes(self) -> None:
        overlay = design(INTEREST, "gm")
        for array in (overlay.source, overlay.target, overlay.contribution):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        with pytest.raises(FrozenInstanceError):
            overlay.source = overlay.target  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            overlay.provenance.algorithm = "me"  # type: ignore[misc,union-attr]


class TestRoundTrip:
    @pytest.mark.parametrize("name", DESIGNERS)
    def test_through_parquet_keeps_everything(self, name: str, tmp_path: Path) -> None:
        budget = DESIGNERS[name].budget
        for shape in SHAPES:
            interest = random_interest(3, shape)
            made = design(interest, name, seed=5, **({budget: 2} if budget else {}))
            made.write(tmp_path / "links.parquet")
            read = Overlay.read(tmp_path / "links.parquet", interest)
            assert read.source.tolist() == made.source.tolist()
            assert read.target.tolist() == made.target.tolist()
            assert read.contribution.tolist() == made.contribution.tolist()
            assert read.provenance == made.provenance
            assert read.interest is interest
            assert {read.source.dtype, read.target.dtype, read.contribution.dtype} == {np.dtype(np.int32)}
            assert not read.source.flags.writeable
            assert not read.contribution.flags.writeable

    @pytest.mark.parametrize(
        "provenance",
        [
            None,
            Provenance("gm"),
            Provenance("low-oda", {"k": 1.25}, None, "9.9"),
            Provenance("gpa", {"max_edges": 2, "budget_ratio": 0.1}),
            Provenance("random-a", {"max_edges": 2}, 2**70),
            Provenance('my "own" é', {}, 0),
        ],
    )
    def test_of_provenance(self, provenance: Provenance | None, tmp_path: Path) -> None:
        ends = np.array([0, 1], np.int32), np.array([2, 3], np.int32)
        Overlay(INTEREST, *ends, np.array([3, 0], np.int32), provenance).write(tmp_path / "o.parquet")
        read = Overlay.read(tmp_path / "o.parquet", INTEREST)
        assert read.provenance == provenance
        assert read.contribution.tolist() == [3, 0]
        if provenance is not None:
            assert {name: type(value) for name, value in read.provenance.parameters.items()} == {
                name: type(value) for name, value in provenance.parameters.items()
            }

    def test_without_contributions(self, tmp_path: Path) -> None:
        Overlay.from_links(INTEREST, [("b", "c"), ("a", ODD)]).write(tmp_path / "o.parquet")
        read = Overlay.read(tmp_path / "o.parquet", INTEREST)
        assert links(read) == [("b", "c"), ("a", ODD)]
        assert (read.contribution, read.provenance) == (None, None)

    def test_of_no_links(self, tmp_path: Path) -> None:
        design(Interest.from_pairs([("a", "t")]), "gm").write(tmp_path / "o.parquet")
        read = Overlay.read(tmp_path / "o.parquet", Interest.from_pairs([("a", "t")]))
        assert len(read) == 0
        assert read.provenance.algorithm == "gm"

    def test_takes_an_equal_interest_made_otherwise(self, tmp_path: Path) -> None:
        pairs = [("a", "t"), ("b", "t")]
        design(Interest.from_pairs(pairs), "gm").write(tmp_path / "o.parquet")
        assert len(Overlay.read(tmp_path / "o.parquet", Interest.from_pairs([*reversed(pairs), *pairs]))) == 1

    @pytest.mark.parametrize("ending", ["csv", "tsv"])
    def test_links_of_any_table_are_read(self, ending: str, tmp_path: Path) -> None:
        mark = {"csv": ",", "tsv": "\t"}[ending]
        rows = [["note", "target", "contribution", "source"], ["x", "a", "2", "b"], ["y", "b", "0", "c"]]
        (tmp_path / f"o.{ending}").write_text("".join(mark.join(row) + "\n" for row in rows))
        read = Overlay.read(tmp_path / f"o.{ending}", INTEREST)
        assert links(read) == [("a", "b"), ("b", "c")]
        assert read.contribution.tolist() == [2, 0]

    def test_names_that_are_numbers(self, tmp_path: Path) -> None:
        interest = Interest.from_pairs([("7", "t"), ("10", "t")])
        pyarrow.parquet.write_table(pa.table({"source": [7], "target": [10]}), tmp_path / "o.parquet")
        assert links(Overlay.read(tmp_path / "o.parquet", interest)) == [("10", "7")]


class TestFile:
    def test_has_the_columns_and_metadata_of_the_design(self, tmp_path: Path) -> None:
        overlay = design(INTEREST, "low-oda", k=2)
        overlay.write(tmp_path / "o.parquet")
        table = pyarrow.parquet.read_table(tmp_path / "o.parquet")
        assert table.column_names == ["source", "target", "contribution"]
        assert [str(field.type) for field in table.schema] == ["string", "string", "int32"]
        assert table.to_pydict() == {
            "source": ["a", "c", "a"],  # the second leaves the highest degree alone
            "target": ["b", ODD, "c"],
            "contribution": [1, 1, 1],
        }
        assert table.schema.metadata == {
            b"fingerprint": INTEREST.fingerprint.encode(),
            b"designer": b"low-oda",
            b"parameters": b'{"k": 2.0, "strict": false}',
            b"seed": b"null",
            b"version": __version__.encode(),
        }

    def test_source_comes_before_target_by_name(self) -> None:
        """Ids follow names, so the order of ids is the order that the file promises for names."""
        for shape in SHAPES:
            columns = design(random_interest(1, shape), "random-a", max_edges=9).to_arrow().to_pydict()
            assert all(a < b for a, b in zip(columns["source"], columns["target"], strict=True))


def test_to_pandas_has_a_row_a_link() -> None:
    frame = design(INTEREST, "gm").to_pandas()
    assert list(frame.columns) == ["source", "target", "contribution"]
    assert frame.values.tolist() == [["a", "b", 1], ["a", "c", 1], ["c", ODD, 1]]
    assert list(Overlay.from_links(INTEREST, [("a", "b")]).to_pandas().columns) == ["source", "target"]


class TestToNetworkx:
    def test_has_all_nodes_and_the_order_and_contribution_of_links(self) -> None:
        overlay = Overlay(
            INTEREST,
            np.array([2, 0, 1], np.int32),
            np.array([3, 1, 2], np.int32),
            np.array([5, 0, 7], np.int32),
        )
        graph = overlay.to_networkx()
        assert type(graph) is nx.Graph
        assert list(graph.nodes) == list(INTEREST.node_names)
        assert nx.number_of_isolates(graph) == 1
        assert {frozenset(ends): graph.edges[ends] for ends in graph.edges} == {
            frozenset({"c", ODD}): {"order": 0, "contribution": 5},
            frozenset({"a", "b"}): {"order": 1, "contribution": 0},
            frozenset({"b", "c"}): {"order": 2, "contribution": 7},
        }
        assert all(type(value) is int for _, _, data in graph.edges(data=True) for value in data.values())

    def test_leaves_out_contributions_that_nobody_recorded(self) -> None:
        graph = Overlay.from_links(INTEREST, [("c", "a")]).to_networkx()
        assert list(graph.edges(data=True)) == [("a", "c", {"order": 0})]

    def test_of_nothing(self) -> None:
        empty = Interest.from_pairs([])
        assert len(Overlay.from_links(empty, []).to_networkx()) == 0


def test_describes_itself_in_one_line() -> None:
    assert repr(design(INTEREST, "gm")) == "<Overlay by gm: 3 links over 5 nodes>"
    assert repr(Overlay.from_links(INTEREST, [])) == "<Overlay: 0 links over 5 nodes>"
