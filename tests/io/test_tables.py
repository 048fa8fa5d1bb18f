"""Tables of text: read in one go, whatever happens to the file meanwhile."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from topicloom.io.tables import read_table


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_file_that_is_replaced_meanwhile_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """It is opened once: the header and the rows are of one file."""
    pack = gzip.compress if ending.endswith("gz") else bytes
    file, newer = tmp_path / f"subs{ending}", tmp_path / f"newer{ending}"
    file.write_bytes(pack(b"\xef\xbb\xbf# filters=mqtt\nnode,topic\na,x\nb,y\n"))
    newer.write_bytes(pack(b"node,topic\nq,z\n"))
    read_csv = pyarrow.csv.read_csv

    def slow(*arguments: Any, **options: Any) -> Any:
        newer.replace(file)
        return read_csv(*arguments, **options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", slow)
    table = read_table(file, ["node", "topic"])
    assert table.to_pydict() == {"node": ["a", "b"], "topic": ["x", "y"]}
    assert table.schema.metadata == {b"filters": b"mqtt"}
