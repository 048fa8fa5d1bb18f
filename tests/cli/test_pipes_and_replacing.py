"""What is piped in, and folders of configurations that are written again."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from topicloom import InputError, Interest, Overlay, bound, compare, design, measure

CSV = b"node,topic\na,x\nb,x\nb,y\nc,y\n"
PAIRS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]


@pytest.mark.parametrize(
    "given",
    [CSV, CSV.replace(b",", b"\t"), gzip.compress(CSV, mtime=0), "parquet"],
    ids=["csv", "tsv", "csv.gz", "parquet"],
)
def test_subscriptions_from_standard_input(given: bytes | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(given, str):
        Interest.from_pairs(PAIRS).write(tmp_path / "subs.parquet")
        given = (tmp_path / "subs.parquet").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert Interest.read("-") == Interest.from_pairs(PAIRS)


def test_subscriptions_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[CSV])
    writer.start()
    assert Interest.read(tmp_path / "pipe") == Interest.from_pairs(PAIRS)
    writer.join()


def test_errors_of_what_is_piped_in_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, message in ((b"", "standard input: is empty; expected the columns node, topic"), (b"a,b\n", None)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        with pytest.raises(InputError) as refused:
            Interest.read("-")
        assert str(refused.value) == (message or "standard input: no column 'node'; it has 'a', 'b'")


def test_names_and_paths_in_python(tmp_path: Path) -> None:
    interest = Interest.from_pairs(PAIRS)
    interest.write(tmp_path / "subs.parquet")
    overlay = design(tmp_path / "subs.parquet", "gm")
    assert overlay == design(interest, "gm") == Overlay.from_links(interest, [("c", "b"), ("a", "b")])
    assert overlay != Overlay.from_links(interest, [("a", "b")])
    assert list(overlay) == [("a", "b"), ("b", "c")]
    assert interest.topics_of("b").tolist() == interest.topics_of(1).tolist() == [0, 1]
    assert interest.nodes_of("y").tolist() == [1, 2]
    with pytest.raises(InputError, match=r"^there is no node 'berlin' in these subscriptions$"):
        interest.topics_of("berlin")
    with pytest.raises(InputError, match=r"^'gm' is no overlay; compare takes overlays, as `design` makes them$"):
        compare(interest, {"gm": "gm"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"^'gm' is no overlay; compare takes overlays, as `design` makes them$"):
        compare(interest, ["gm"])  # type: ignore[list-item]
    overlay.write(tmp_path / "overlay.parquet")
    assert compare(tmp_path / "subs.parquet", overlay).measures == {"gm": measure(interest, overlay)}
    assert measure(tmp_path / "subs.parquet", str(tmp_path / "overlay.parquet")) == measure(interest, overlay)
    assert bound(tmp_path / "subs.parquet") == bound(interest)
    for nowhere in (99, -1):
        with pytest.raises(InputError, match=f"^there is no node {nowhere} in these subscriptions$"):
            interest.topics_of(nowhere)
    with pytest.raises(InputError, match=r"^3 is no interest; give one, or the file or folder that it is in$"):
        measure(3, overlay)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^3 is no overlay; give one, as `design` makes it"):
        measure(interest, 3)  # type: ignore[arg-type]


def test_a_file_that_a_process_has_open_is_read(tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_bytes(CSV)
    with (tmp_path / "subs.csv").open() as opened:
        assert Interest.read(f"/dev/fd/{opened.fileno()}") == Interest.read(tmp_path / "subs.csv")


def test_configurations_are_written_again(cli, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "subs.csv").write_bytes(CSV)
    hosts = "".join(f'[brokers.{name}]\nhost = "{name}"\n' for name in "abc")
    (tmp_path / "fleet.toml").write_text(hosts)
    cli("design", tmp_path / "subs.csv", "-a", "gm", "--out", tmp_path / "o.parquet")
    plan, out = tmp_path / "plan.json", tmp_path / "conf"
    cli("plan", tmp_path / "subs.csv", tmp_path / "o.parquet", "--fleet", tmp_path / "fleet.toml", "--out", plan)
    assert cli("render", plan, "--out", out).status == 0
    (out / "old.conf").write_text("")
    assert cli("render", plan, "--out", out).err == f"topicloom: {out}: is there already; give a new folder\n"
    assert cli("render", plan, "--out", out, "--replace", "--mode", "640").status == 0
    assert sorted(path.name for path in out.iterdir()) == ["a.conf", "b.conf", "c.conf", "fleet.dot"]
    assert stat.S_IMODE((out / "a.conf").stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    (out / "mine.txt").write_text("")
    assert cli("render", plan, "--out", out, "--replace").status == 2
    wrong = cli("render", plan, "--out", tmp_path / "x", "--mode", "999")
    assert wrong.err == "topicloom: --mode must be three octal digits, such as 640, not '999'\n"
    nobody = cli("render", plan, "--out", tmp_path / "x", "--owner", "no such user")
    assert nobody.err == "topicloom: --owner must be a user, or user and group, of this machine, not 'no such user'\n"
    assert not (tmp_path / "x").exists()
