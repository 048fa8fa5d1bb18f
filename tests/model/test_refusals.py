"""Every refusal of the model: one line that says where, what is wrong and what would be right."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from topicloom import design
from topicloom.model import InputError, Interest, Overlay

READABLE = "Parquet (.parquet), CSV (.csv, .csv.gz) or TSV (.tsv, .tsv.gz)"
INTEREST = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")])


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.__cause__ is None
    return message


class TestFiles:
    """Of subscriptions and of overlays alike; `{}` stands for the file."""

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("empty.csv", b"", "{}: is empty; expected the columns node, topic"),
            ("empty.parquet", b"", "{}: is empty; expected the columns node, topic"),
            ("header.csv", b"node,topic\n", "{}: has no rows; expected one subscription a row"),
            ("columns.csv", b"user,topic\na,b\n", "{}: no column 'node'; it has 'user', 'topic'"),
            ("columns.tsv", b"node,topic\na,b\n", "{}: no column 'node'; it has 'node,topic'"),
            ("case.csv", b"Node,topic\na,b\n", "{}: no column 'node'; it has 'Node', 'topic'"),
            ("null.csv", b"node,topic\na,b\n,c\n", "{}: row 2: empty name in column 'node'; every row needs a name"),
            ("topic.csv", b"node,topic\na,b\nb,\n", "{}: row 2: empty name in column 'topic'; every row needs a name"),
            ("quoted.csv", b'node,topic\n"",b\n', "{}: row 1: empty name in column 'node'; every row needs a name"),
            ("notes.txt", b"node,topic\na,b\n", "{}: unknown kind of file .txt; give " + READABLE),
            ("notes", b"node,topic\na,b\n", "{}: unknown kind of file without an ending; give " + READABLE),
            (
                "notes.gz",
                gzip.compress(b"node,topic\na,b\n", mtime=0),
                "{}: unknown kind of file without an ending; give " + READABLE,
            ),
            ("notes.json.gz", gzip.compress(b"{}", mtime=0), "{}: unknown kind of file .json; give " + READABLE),
            ("zipped.csv.gz", gzip.compress(b"", mtime=0), "{}: no column 'node'; it has none"),
        ],
    )
    def test_messages(self, name: str, content: bytes, message: str, tmp_path: Path) -> None:
        file = tmp_path / name
        file.write_bytes(content)
        assert refusal(lambda: Interest.read(file)) == message.replace("{}", str(file), 1)

    @pytest.mark.parametrize(
        ("name", "content", "part"),
        [
            ("not.csv.gz", b"node,topic\na,b\n", "Not a gzipped file"),
            ("cut.csv.gz", gzip.compress(random.Random(1).randbytes(5000), mtime=0)[:2000], ""),
            ("not.parquet", b"node,topic\na,b\n" * 9, "parquet"),
            ("cut.parquet", b"PAR1 and no more PAR1", ""),
            ("wide.csv", b"node,topic\na,b\nc,d,e\n", "Expected 2 columns, got 3"),
            ("narrow.csv", b"node,topic\na,b\nc\n", "Expected 2 columns, got 1"),
            ("latin.csv", "node,topic\né,b\n".encode("latin-1"), "utf-8"),
            ("wide.csv", "node,topic\na,b\n".encode("utf-16"), "utf-8"),
        ],
    )
    def test_unreadable(self, name: str, content: bytes, part: str, tmp_path: Path) -> None:
        file = tmp_path / name
        file.write_bytes(content)
        message = refusal(lambda: Interest.read(file))
        assert message.startswith(f"{file}: cannot be read (")
        assert message.endswith(")")
        assert part in message

    def test_missing(self, tmp_path: Path) -> None:
        file = tmp_path / "no such.csv"
        assert refusal(lambda: Interest.read(file)) == f"{file}: no such file"
        assert refusal(lambda: Overlay.read(file, INTEREST)) == f"{file}: no such file"
        assert refusal(lambda: Interest.read(str(file))) == f"{file}: no such file"

    def test_folder(self, tmp_path: Path) -> None:
        expected = f"{tmp_path}: is not a folder that 'topicloom spark ingest' wrote; it has no nodes/"
        assert refusal(lambda: Interest.read(tmp_path)) == expected
        assert refusal(lambda: Overlay.read(tmp_path, INTEREST)) == (
            f"{tmp_path}: is a folder; give one file as {READABLE}"
        )

    def test_parquet_without_rows_or_columns(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.parquet"
        Interest.from_pairs([]).write(file)
        assert refusal(lambda: Interest.read(file)) == f"{file}: has no rows; expected one subscription a row"
        pyarrow.parquet.write_table(pa.table({"broker": ["a"], "topic": ["t"]}), file)
        assert refusal(lambda: Interest.read(file)) == f"{file}: no column 'node'; it has 'broker', 'topic'"
        assert Interest.read(file, node_column="broker").node_names == ("a",)

    def test_parquet_with_null_names_says_which_row(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.parquet"
        names = ["a"] * 1000 + [None, ""]
        pyarrow.parquet.write_table(pa.table({"node": ["n"] * 1002, "topic": names}), file, row_group_size=100)
        expected = f"{file}: row 1001: null name in column 'topic'; every row needs a name"
        assert refusal(lambda: Interest.read(file)) == expected

    def test_one_column_cannot_be_both(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        file.write_text("node,topic\na,b\n")
        expected = f"{file}: nodes and topics cannot both be in column 'topic'"
        assert refusal(lambda: Interest.read(file, node_column="topic")) == expected

    def test_a_column_twice(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        file.write_text("node,topic,node\na,b,c\n")
        assert refusal(lambda: Interest.read(file)) == f"{file}: has more than one column 'node'"

    def test_parquet_is_known_by_its_content(self, tmp_path: Path) -> None:
        file = tmp_path / "subscriptions"
        INTEREST.write(file)
        assert Interest.read(file) == INTEREST

    def test_missing_column_of_a_table_of_links(self) -> None:
        assert (
            refusal(lambda: Overlay.from_arrow(INTEREST, pa.table({"a": ["x"]})))
            == "links: no column 'source'; it has 'a'"
        )

    @pytest.mark.parametrize("pair", [(1, 2), ("a", 2), ("a", "\ud800"), ("a",), 7])
    def test_pairs_that_are_not_names(self, pair: tuple[str, str]) -> None:
        expected = "subscriptions: every node and every topic must be a string"
        assert refusal(lambda: Interest.from_pairs([("a", "t"), pair])) == expected

    def test_a_frame_of_mixed_kinds(self) -> None:
        frame = pd.DataFrame({"node": ["a", 1], "topic": ["t", "t"]})
        assert refusal(lambda: Interest.from_pandas(frame)).startswith("data frame: cannot be read (")

    def test_foreign_metadata_is_left_alone(self) -> None:
        table = pa.table({"source": ["a"], "target": ["b"]}, metadata={b"x": b"\xff"})
        assert Overlay.from_arrow(INTEREST, table).provenance is None

    def test_missing_column_of_an_overlay(self, tmp_path: Path) -> None:
        file = tmp_path / "links.csv"
        file.write_text("from,to\na,b\n")
        assert refusal(lambda: Overlay.read(file, INTEREST)) == f"{file}: no column 'source'; it has 'from', 'to'"
        file.write_text("")
        assert refusal(lambda: Overlay.read(file, INTEREST)) == f"{file}: is empty; expected the columns source, target"


class TestSubscriptions:
    def test_column_missing(self) -> None:
        table = pa.table({"node": ["a"], "subject": ["t"]})
        expected = "subscriptions: no column 'topic'; it has 'node', 'subject'"
        assert refusal(lambda: Interest.from_arrow(table)) == expected
        assert refusal(lambda: Interest.from_pandas(table.to_pandas())) == expected.replace(
            "subscriptions", "data frame"
        )

    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (pa.array([1.5, 2]), "double"),
            (pa.array([b"a", b"b"]), "binary"),
            (pa.array([True, False]), "bool"),
            (pa.array([["a"], ["b"]]), "list<item: string>"),
            (pa.nulls(2), "null"),
            (pa.array([1.5, 2]).dictionary_encode(), "double"),
        ],
    )
    def test_column_that_holds_no_names(self, column: pa.Array, kind: str) -> None:
        table = pa.table({"node": column, "topic": ["s", "t"]})
        expected = f"subscriptions: column 'node' holds {kind}, not names (strings)"
        assert refusal(lambda: Interest.from_arrow(table)) == expected

    @pytest.mark.parametrize(("bad", "kind"), [(None, "null"), ("", "empty")])
    def test_null_and_empty_names_say_which_row(self, bad: str | None, kind: str) -> None:
        rows = [("a", "t"), ("b", "t"), (bad, "t"), ("d", bad)]
        expected = f"subscriptions: row 3: {kind} name in column 'node'; every row needs a name"
        assert refusal(lambda: Interest.from_pairs(rows)) == expected  # type: ignore[arg-type]
        frame = pd.DataFrame(rows, columns=["node", "topic"])
        expected = expected.replace("subscriptions", "data frame")
        assert refusal(lambda: Interest.from_pandas(frame)) == expected
        assert refusal(lambda: Interest.from_pandas(frame.astype("category"))) == expected
        topics = frame[["topic", "node"]].set_axis(["node", "topic"], axis=1)
        expected = f"data frame: row 4: {kind} name in column 'node'; every row needs a name"
        assert refusal(lambda: Interest.from_pandas(topics)) == expected

    def test_names_that_look_like_nothing_are_names(self, tmp_path: Path) -> None:
        (tmp_path / "rows.csv").write_text("node,topic\nNA,null\nnan,NULL\nNone,N/A\n#N/A,-\n")
        interest = Interest.read(tmp_path / "rows.csv")
        assert interest.node_names == ("#N/A", "NA", "None", "nan")
        assert interest.topic_names == ("-", "N/A", "NULL", "null")

    def test_names_of_text_files_are_trimmed_and_composed_as_ingest_does(self, tmp_path: Path) -> None:
        (tmp_path / "rows.csv").write_text("node,topic\n a ,t\na, t\t\nb,o\u0308\nb,\u00f6\nc,two words\n")
        interest = Interest.read(tmp_path / "rows.csv")
        assert interest.node_names == ("a", "b", "c")
        assert interest.topic_names == ("t", "two words", "\u00f6")
        assert interest.subscription_count == 3

    def test_a_name_of_spaces_in_a_text_file_is_empty(self, tmp_path: Path) -> None:
        (tmp_path / "rows.csv").write_text("node,topic\na,t\n  ,t\n")
        expected = f"{tmp_path / 'rows.csv'}: row 2: empty name in column 'node'; every row needs a name"
        assert refusal(lambda: Interest.read(tmp_path / "rows.csv")) == expected

    def test_names_of_parquet_stay_as_they_are(self, tmp_path: Path) -> None:
        interest = Interest.from_pairs([(" a ", "t"), ("a", " "), ("o\u0308", "t")])
        interest.write(tmp_path / "rows.parquet")
        assert Interest.read(tmp_path / "rows.parquet") == interest

    def test_numbers_of_a_csv_stay_as_they_are_written(self, tmp_path: Path) -> None:
        (tmp_path / "rows.csv").write_text("node,topic\n007,1.0\n7,1\n1e3,2020-01-01\ntrue,0x1\n")
        interest = Interest.read(tmp_path / "rows.csv")
        assert interest.node_names == ("007", "1e3", "7", "true")
        assert interest.topic_names == ("0x1", "1", "1.0", "2020-01-01")

    def test_quotes_line_ends_and_marks_of_order_are_read(self, tmp_path: Path) -> None:
        text = '\ufeffnode,topic\r\n"say ""hi""","a,b"\r\n"two\nlines",t\r\n'
        (tmp_path / "rows.CSV").write_bytes(text.encode())
        interest = Interest.read(tmp_path / "rows.CSV")
        assert interest.node_names == ('say "hi"', "two\nlines")
        assert interest.topic_names == ("a,b", "t")


class TestLinks:
    @pytest.mark.parametrize(
        ("links", "message"),
        [
            ([("a", "b"), ("a", "z")], "links: row 2: target 'z' is not a node of the subscriptions"),
            ([("A", "b")], "links: row 1: source 'A' is not a node of the subscriptions"),
            ([("t", "a")], "links: row 1: source 't' is not a node of the subscriptions"),
            ([("a", "b"), ("c", "c")], "links: row 2: links 'c' with itself; a link needs two nodes"),
            ([("a", "b"), ("b", "c"), ("a", "b")], "links: row 3: repeats the link 'a' - 'b' of row 1"),
            ([("b", "c"), ("a", "b"), ("b", "a")], "links: row 3: repeats the link 'b' - 'a' of row 2"),
            ([("a", "b"), ("", "b")], "links: row 2: empty name in column 'source'; every row needs a name"),
            ([("a", "b"), ("b", None)], "links: row 2: null name in column 'target'; every row needs a name"),
        ],
    )
    def test_messages(self, links: list[tuple[str, str]], message: str, tmp_path: Path) -> None:
        assert refusal(lambda: Overlay.from_links(INTEREST, links)) == message
        file = tmp_path / "o.parquet"
        columns = {"source": [a for a, _ in links], "target": [b for _, b in links]}
        pyarrow.parquet.write_table(pa.table(columns), file)
        assert refusal(lambda: Overlay.read(file, INTEREST)) == message.replace("links:", f"{file}:", 1)

    @pytest.mark.parametrize(
        ("contribution", "message"),
        [
            ([1.5], "links: column 'contribution' does not hold whole numbers"),
            (["many"], "links: column 'contribution' does not hold whole numbers"),
            ([2**40], "links: column 'contribution' does not hold whole numbers"),
            ([1, None], "links: column 'contribution' holds null or negative numbers"),
            ([None, None], "links: column 'contribution' does not hold whole numbers"),
            ([[1]], "links: column 'contribution' does not hold whole numbers"),
            ([True], "links: column 'contribution' does not hold whole numbers"),
            ([-1], "links: column 'contribution' holds null or negative numbers"),
        ],
    )
    def test_contributions(self, contribution: list[object], message: str) -> None:
        ends = {"source": ["a", "a"][: len(contribution)], "target": ["b", "c"][: len(contribution)]}
        table = pa.table({**ends, "contribution": contribution})
        assert refusal(lambda: Overlay.from_arrow(INTEREST, table)) == message

    @pytest.mark.parametrize(
        "metadata",
        [{"parameters": "[1]"}, {"parameters": "{"}, {"parameters": "3"}, {"seed": "x"}],
    )
    def test_metadata(self, metadata: dict[str, str]) -> None:
        table = pa.table({"source": ["a"], "target": ["b"]}, metadata={"designer": "gm"} | metadata)
        expected = "links: its metadata does not hold the parameters and seed of its designer"
        assert refusal(lambda: Overlay.from_arrow(INTEREST, table)) == expected

    def test_overlay_of_other_subscriptions(self, tmp_path: Path) -> None:
        """Also where every node is known: one subscription more is another interest."""
        file = tmp_path / "o.parquet"
        other = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t"), ("c", "u")])
        design(other, "gm").write(file)
        assert refusal(lambda: Overlay.read(file, INTEREST)) == (
            f"{file}: was designed for other subscriptions (fingerprint {other.fingerprint}, "
            f"these have {INTEREST.fingerprint}); give the subscriptions it was designed for"
        )
        assert len(Overlay.read(file, other)) == 2


class TestWriting:
    def test_to_a_folder(self, tmp_path: Path) -> None:
        expected = f"{tmp_path}: is a folder, not a file to write to"
        assert refusal(lambda: INTEREST.write(tmp_path)) == expected
        assert refusal(lambda: Overlay.from_links(INTEREST, []).write(tmp_path)) == expected

    def test_into_a_folder_that_is_missing(self, tmp_path: Path) -> None:
        file = tmp_path / "no" / "o.parquet"
        assert refusal(lambda: INTEREST.write(file)) == f"{file}: the folder {file.parent} does not exist"
        assert not file.parent.exists()

    def test_where_nothing_can_be_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **_named: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("topicloom.io.whole._new_file", refuse)
        file = tmp_path / "o.parquet"
        assert refusal(lambda: INTEREST.write(file)) == f"{file}: cannot be written (Permission denied)"
