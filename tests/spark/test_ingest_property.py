"""Ingest of random dirty CSV files, against its plain-Python twin."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from effort import times
from reference.ingest import ingest_lines, run
from topicloom.model import Interest
from topicloom.spark.ingest import IngestOptions

# Letters composed and not, white space of Unicode, and what stands for bytes that were no text.
_NAMES = st.text("aZé\u0301e 東\t\u00a0\u3000\U0001f40d/-", max_size=4)
_FIELDS = st.one_of(
    _NAMES,
    st.text('ab,;" é', max_size=5).map(lambda text: '"' + text.replace('"', '""') + '"'),
)
_ODD_LINES = st.sampled_from(["", "a", 'a,"never closed', ",".join("abcdefg"), " , , , "])
_HEADERS = st.lists(st.sampled_from(["first", "second", "third, quoted"]), unique=True).flatmap(
    lambda more: st.permutations(["node", "topic", *more])
)


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], str, bool, bool]:
    """Lines, how they end, whether they begin with a BOM, and whether the file is compressed."""
    header = draw(_HEADERS)
    rows = st.lists(_FIELDS, min_size=len(header), max_size=len(header)).map(",".join)
    lines = draw(st.lists(st.one_of(rows, rows, rows, _ODD_LINES), max_size=25))
    first = ",".join(f'"{name}"' if "," in name else name for name in header)
    good = ",".join("a" for _ in header)
    return [first, good, *lines], draw(st.sampled_from(["\n", "\r\n"])), draw(st.booleans()), draw(st.booleans())


@settings(max_examples=times(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_files=st.lists(files(), min_size=1, max_size=3))
def test_random_dirty_files_as_the_twin_reads_them(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    given_files: list[tuple[list[str], str, bool, bool]],
) -> None:
    folder = tmp_path_factory.mktemp("dirty")
    (folder / "raw").mkdir()
    for number, (lines, end, bom, packed) in enumerate(given_files):
        content = (("\ufeff" if bom else "") + end.join(lines) + end).encode()
        name = f"{number}.csv.gz" if packed else f"{number}.csv"
        Path(folder, "raw", name).write_bytes(gzip.compress(content) if packed else content)
    expected = ingest_lines({str(number): lines for number, (lines, *_) in enumerate(given_files)})
    made = run(spark, [folder / "raw"], folder / "out", IngestOptions(max_bad=1))
    assert Interest.read(folder / "out") == Interest.from_pairs(expected.pairs)
    assert dict(made.counts.rejected_by_reason) == expected.reasons
    assert made.counts.rows == len(expected.pairs) + len(expected.bad)
