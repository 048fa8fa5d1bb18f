"""Tables of subscriptions say whose wildcards their topics may have, and everything that reads them heeds it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from topicloom import InputError, Interest, Overlay, design

PAIRS = [("a", "plant/#"), ("b", "plant/1"), ("c", "plant/2"), ("d", "plant/3"), ("e", "plant/4"), ("f", "plant/5")]
FILTERED = Interest.from_pairs(PAIRS, filters="mqtt")
TEXT = "node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in PAIRS)
TABLE = pa.table({"node": [node for node, _ in PAIRS], "topic": [topic for _, topic in PAIRS]})


def csv(folder: Path, said: str = "") -> Path:
    (folder / "subs.csv").write_text(said + TEXT)
    return folder / "subs.csv"


def tsv(folder: Path, said: str = "") -> Path:
    (folder / "subs.tsv").write_text(said + TEXT.replace(",", "\t"))
    return folder / "subs.tsv"


def packed(folder: Path, said: str = "") -> Path:
    (folder / "subs.csv.gz").write_bytes(gzip.compress((said + TEXT).encode()))
    return folder / "subs.csv.gz"


def parquet(folder: Path, said: str = "") -> Path:
    metadata = {"filters": said.partition("=")[2].strip()} if said else None
    pyarrow.parquet.write_table(TABLE.replace_schema_metadata(metadata), folder / "subs.parquet")
    return folder / "subs.parquet"


Writer = Callable[[Path, str], Path]
WRITERS = [csv, tsv, packed, parquet]


def test_wildcards_are_one_topic() -> None:
    assert FILTERED.topic_names == ("plant/#",)
    assert len(design(FILTERED, "gm")) == 5
    assert FILTERED.filters == "mqtt"
    assert Interest.from_pairs([("a", "t")]).filters is None


@pytest.mark.parametrize("write", WRITERS)
def test_files_say_their_filters(write: Writer, tmp_path: Path) -> None:
    file = write(tmp_path, "# filters=mqtt\n")
    assert Interest.read(file) == Interest.read(file, filters="mqtt") == FILTERED
    file = write(tmp_path, "# filters=none\n")
    assert Interest.read(file).topic_names == Interest.read(file, filters="none").topic_names
    assert Interest.read(file).topic_count == 6


@pytest.mark.parametrize("line", ["#filters = mqtt\n", '"# filters=mqtt",\n', "\ufeff# filters=mqtt,,\r\n"])
def test_the_line_as_spreadsheets_write_it(line: str, tmp_path: Path) -> None:
    assert Interest.read(csv(tmp_path, line)) == FILTERED


@pytest.mark.parametrize("write", WRITERS)
def test_other_filters_than_the_file_says_are_refused(write: Writer, tmp_path: Path) -> None:
    file = write(tmp_path, "# filters=mqtt\n")
    for other in ("nats", "none"):
        with pytest.raises(InputError) as refused:
            Interest.read(file, filters=other)
        problem = f"says that topics have wildcards of mqtt, so filters cannot be {other}; leave filters out"
        assert str(refused.value) == f"{file}: {problem}"
    file = write(tmp_path, "# filters=none\n")
    with pytest.raises(InputError, match=r"says that topics have plain names, so filters cannot be mqtt; leave"):
        Interest.read(file, filters="mqtt")
    file = write(tmp_path, "# filters=kafka\n")
    with pytest.raises(InputError) as refused:
        Interest.read(file)
    assert str(refused.value) == f"{file}: says filters=kafka; known are mqtt, nats, amqp and none"


def test_a_file_of_wrong_filters_names_the_row(tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("# filters=mqtt\nnode,topic\na,t/#\nb,t#\n")
    with pytest.raises(InputError, match=r"subs\.csv: row 2: filter 't#': has '#' beside other characters"):
        Interest.read(tmp_path / "subs.csv")


def test_what_is_written_keeps_filters(tmp_path: Path) -> None:
    plain = Interest.from_pairs(PAIRS, filters="none")
    for interest in (FILTERED, plain):
        interest.write(tmp_path / "kept.parquet")
        for again in (
            Interest.read(tmp_path / "kept.parquet"),
            Interest.from_arrow(interest.to_arrow()),
            Interest.from_pandas(interest.to_pandas()),
        ):
            assert again == interest
            assert again.filters == interest.filters
    with pytest.raises(InputError, match=r"^data frame: says that topics have wildcards of mqtt, so filters cannot"):
        Interest.from_pandas(FILTERED.to_pandas(), filters="nats")


def test_files_of_plain_names_say_nothing(tmp_path: Path) -> None:
    for interest in (Interest.from_pairs([("a", "t")]), Interest.from_roles([("a", "t", "sub"), ("b", "t", "pub")])):
        interest.write(tmp_path / "plain.parquet")
        assert pyarrow.parquet.read_schema(tmp_path / "plain.parquet").metadata is None
        assert "filters" not in interest.to_pandas().attrs


def test_overlays_say_what_they_were_designed_for(tmp_path: Path) -> None:
    design(FILTERED, "gm").write(tmp_path / "overlay.parquet")
    assert len(Overlay.read(tmp_path / "overlay.parquet", FILTERED)) == 5
    with pytest.raises(InputError, match=r"designed for subscriptions with wildcards of mqtt; read them with filters"):
        Overlay.read(tmp_path / "overlay.parquet", Interest.from_pairs(PAIRS, filters="none"))


@pytest.mark.parametrize("write", WRITERS)
def test_wildcards_without_a_word_on_them_are_refused(write: Writer, tmp_path: Path) -> None:
    file = write(tmp_path, "")
    with pytest.raises(InputError) as refused:
        Interest.read(file)
    problem = "topic 'plant/#' has a wildcard of mqtt; give filters mqtt, or filters none for plain names"
    assert str(refused.value) == f"{file}: {problem}"
    assert Interest.read(file, filters="mqtt") == FILTERED
    assert Interest.read(file, filters="none").topic_count == 6


def test_every_reader_refuses_them() -> None:
    for read in (
        lambda: Interest.from_pairs(PAIRS),
        lambda: Interest.from_arrow(TABLE),
        lambda: Interest.from_pandas(TABLE.to_pandas()),
        lambda: Interest.from_roles([(*pair, "both") for pair in PAIRS]),
    ):
        with pytest.raises(InputError, match=r"topic 'plant/#' has a wildcard of mqtt; give filters mqtt, or filters"):
            read()


@pytest.mark.parametrize(
    ("topic", "known"),
    [
        ("#", "mqtt or amqp"),
        ("+", "mqtt"),
        ("plant/#", "mqtt"),
        ("/#", "mqtt"),
        ("a/+/b", "mqtt"),
        ("+/x", "mqtt"),
        ("$share/group/x", "mqtt"),
        ("orders.*", "nats or amqp"),
        ("*.eu", "nats or amqp"),
        ("orders.>", "nats"),
        (">", "nats"),
        ("stock.#", "amqp"),
        ("stock.#.eu", "amqp"),
    ],
)
def test_what_looks_like_a_wildcard(topic: str, known: str) -> None:
    with pytest.raises(InputError, match=rf" has a wildcard of {known}; give filters {known.split(' ')[0]}"):
        Interest.from_pairs([("a", "x"), ("b", topic)])
    assert Interest.from_pairs([("b", topic)], filters="none").topic_names == (topic,)
    for protocol in known.split(" or "):
        assert Interest.from_pairs([("b", topic)], filters=protocol).filters == protocol


@pytest.mark.parametrize(
    "topic",
    ["C#", "5*", "#1", "#tag", "a+b", "+49", "x > y", "->", "*", "**", "a*b/c", "Mr. *", "a.b*", "#/x", "a ..* b", "$"],
)
def test_names_that_are_no_wildcards(topic: str) -> None:
    assert Interest.from_pairs([("a", topic)]).topic_names == (topic,)


def test_a_name_that_does_not_begin_where_its_column_does() -> None:
    table = pa.table({"node": ["a", "b", "c"], "topic": ["x/#", "y", "z"]}).slice(1)
    assert Interest.from_arrow(table).topic_names == ("y", "z")
    with pytest.raises(InputError, match="'x/#'"):
        Interest.from_arrow(pa.table({"node": ["a", "b"], "topic": pa.array(["y", "x/#"]).dictionary_encode()}))
