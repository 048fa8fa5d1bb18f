"""Stores: what was committed is there after any end, one process at a time, and nothing foreign is written over."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from effort import times
from topicloom import InputError
from topicloom.io.store import Entry, Store

KIND = "maintain"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


def opened(path: Path, kind: str = KIND, *, durable: bool = False, exclusive: bool = True) -> Store:
    return Store.open(path, kind, durable, first={"origin": "here"}, exclusive=exclusive)


def refusal(path: Path, kind: str = KIND) -> str:
    with pytest.raises(InputError) as refused:
        opened(path, kind)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_committed_is_there(path: Path, durable: bool) -> None:
    store = opened(path, durable=durable)
    assert store.snapshot() is None
    assert store.append(["a", "é\n"]) == range(1, 3)
    assert store.append(["c", "d"], jointly=True) == range(3, 5)
    assert store.append([]) == range(5, 5)
    store.sync()
    store.close()
    again = opened(path)
    assert again.entries() == [Entry(1, 1, "a"), Entry(2, 2, "é\n"), Entry(3, 3, "c"), Entry(4, 3, "d")]
    assert again.entries(3) == [Entry(4, 3, "d")]
    assert again.meta == {"origin": "here", "kind": KIND, "format": "1"}
    again.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name], "one file when it is closed"


def test_a_snapshot_replaces_what_it_contains_and_numbers_go_on(path: Path) -> None:
    store = opened(path)
    store.append(["a", "b", "c"])
    store.write_snapshot(2, "after b")
    assert store.snapshot() == (2, "after b")
    assert store.entries() == [Entry(3, 3, "c")]
    store.write_snapshot(3, "after c")
    store.close()
    again = opened(path)
    assert again.snapshot() == (3, "after c")
    assert again.append(["d"]) == range(4, 5)
    again.close()


def test_a_transaction_is_whole_or_nothing(path: Path) -> None:
    store = opened(path)

    def fail() -> None:
        with store.transaction():
            store.set_meta({"batch": "1"})
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.transaction():
        store.set_meta({"after": "2"})
    assert "batch" not in store.meta
    assert store.meta["after"] == "2"
    store.close()


def test_a_transaction_within_another_is_part_of_it(path: Path) -> None:
    store = opened(path)

    def fail() -> None:
        with store.transaction():
            store.append(["a"])
            with store.transaction():
                store.set_meta({"batch": "1"})
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "batch" not in store.meta
    assert store.entries() == []
    assert store.append(["b"])[0] in (1, 2)
    store.close()


def test_tables_of_a_room(path: Path) -> None:
    store = Store.open(path, KIND, True, tables="CREATE TABLE moves (number INTEGER PRIMARY KEY, old TEXT);")
    store.execute("INSERT INTO moves (old) VALUES (?)", ("p",))
    store.close()
    again = opened(path)
    assert again.execute("SELECT * FROM moves") == [(1, "p")]
    again.close()


HOLDING = """
import sys
from pathlib import Path
from topicloom.io.store import Store
store = Store.open(Path(sys.argv[1]), "maintain", False, exclusive=sys.argv[2] == "exclusive")
store.append(["from the other"])
print("open", flush=True)
sys.stdin.read()
"""


def other(path: Path, how: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDING, str(path), how]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def test_one_process_at_a_time(path: Path) -> None:
    with other(path, "exclusive") as process:
        assert not path.with_name(path.name + "-shm").exists(), "no memory that processes share"
        began = time.monotonic()
        assert refusal(path) == f"{path}: is in use by another process"
        assert time.monotonic() - began < 2
        process.kill()
    store = opened(path)
    assert [entry.body for entry in store.entries()] == ["from the other"], "the lock ends with the process"
    assert refusal(path) == f"{path}: is in use by another process", "also within one process"
    store.close()


def test_others_read_beside_the_writer_of_a_shared_store(path: Path) -> None:
    with other(path, "shared") as process:
        reader = opened(path, exclusive=False)
        assert [entry.body for entry in reader.entries()] == ["from the other"]
        reader.close()
        process.kill()


WRITING = """
import sys
from pathlib import Path
from topicloom.io.store import Store
store = Store.open(Path(sys.argv[1]), "maintain", sys.argv[2] == "durable")
while True:
    number = store.last + 1
    size = number % 7 + 1
    store.append([f"{number + place} of {number} {size}" for place in range(size)], jointly=True)
    print(store.last, flush=True)
    if number % 5 == 0:
        store.write_snapshot(store.last, f"snapshot {store.last}")
    if number % 11 == 0:
        store.sync()
"""


@pytest.mark.slow
def test_killed_at_random_a_store_holds_whole_batches_and_all_that_were_promised(path: Path) -> None:
    dice = random.Random(7)
    for turn in range(times(12)):
        command = [sys.executable, "-c", WRITING, str(path), "durable" if turn % 3 == 0 else "not"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = process.stdout.readline()
            time.sleep(dice.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            told = ([told, *process.stdout.read().splitlines(keepends=True)])[-1]
        store = opened(path)
        last = store.last
        if told.endswith("\n"):
            assert last >= int(told), "it was told after it was committed"
        upto, _ = store.snapshot() or (0, "")
        batches: dict[int, list[Entry]] = {}
        for entry in store.entries():
            assert entry.number > upto
            batches.setdefault(entry.batch, []).append(entry)
        for batch, entries in batches.items():
            size = batch % 7 + 1
            assert [entry.body for entry in entries] == [f"{batch + n} of {batch} {size}" for n in range(size)]
        store.close()


def test_an_end_while_it_is_made(path: Path) -> None:
    """What SQLite leaves is an empty file, or one without tables; both are new."""
    path.touch()
    opened(path).close()
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    store = opened(path)
    assert store.meta["origin"] == "here"
    store.close()


def test_foreign_files_are_refused_and_left_as_they_are(path: Path) -> None:
    path.write_bytes(b"node,topic\na,t\n" * 100)
    before = path.read_bytes()
    assert refusal(path) == f"{path}: is not a store of Topicloom"
    assert path.read_bytes() == before
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE photos (name TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    assert refusal(path) == f"{path}: is not a store of Topicloom"
    assert path.read_bytes() == before


def test_other_kinds_and_formats(path: Path) -> None:
    opened(path).close()
    assert refusal(path, "watch") == f"{path}: is a store of maintain, not of watch"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = '9' WHERE key = 'format'")
    connection.commit()
    connection.close()
    assert refusal(path) == f"{path}: was written by another version of Topicloom (format 9)"


def test_a_damaged_store(path: Path) -> None:
    store = opened(path)
    store.append([f"{number} " + "x" * 3000 for number in range(200)])
    store.close()
    whole = path.read_bytes()
    dice = random.Random(3)
    for damage in ("cut", "page", "page", "page", "header"):
        content = bytearray(whole)
        if damage == "cut":
            content = content[: len(content) // 2]
        elif damage == "page":
            at = 4096 * dice.randrange(1, len(content) // 4096)
            content[at : at + 512] = os.urandom(512)
        else:
            content[:16] = os.urandom(16)
        path.write_bytes(bytes(content))
        assert refusal(path) in (
            f"{path}: is damaged; put it back from a copy",
            f"{path}: is not a store of Topicloom",
        ), damage
        assert path.read_bytes() == bytes(content), "never written over"


def test_where_nothing_can_be_written(path: Path) -> None:
    missing = path.parent / "no" / "state.sqlite"
    assert refusal(missing) == f"{missing}: cannot be opened; its folder must exist and be writable"
    assert refusal(path.parent) == f"{path.parent}: is not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(path: Path) -> None:
    opened(path).close()
    path.chmod(0o400)
    assert refusal(path) == f"{path}: cannot be written (it is read-only)"


def test_a_full_disk_is_one_line_and_loses_nothing(path: Path) -> None:
    store = opened(path)
    store.append(["a"])
    (pages,) = store.execute("PRAGMA page_count")[0]
    store.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(InputError) as refused:
        store.append(["x" * 4000] * 20)
    assert str(refused.value) == f"{path}: cannot be written (No space left on device)"
    store.execute("PRAGMA max_page_count = 1000000")
    assert store.append(["b"]) == range(2, 3), "it goes on when there is space again"
    store.close()
    again = opened(path)
    assert [entry.body for entry in again.entries()] == ["a", "b"]
    again.close()


LIMITED = """
import sys, signal, resource
from pathlib import Path
from topicloom.errors import InputError
from topicloom.io.store import Store
store = Store.open(Path(sys.argv[1]), "maintain", False)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
done = 0
try:
    while True:
        store.append(["x" * 3000])
        done = store.last
except InputError as error:
    print(done, error)
"""


def test_a_file_that_may_not_grow(path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    ended = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True)
    done, _, told = ended.stdout.strip().partition(" ")
    assert told.startswith(f"{path}: cannot be "), ended.stderr
    store = opened(path)
    assert store.last == int(done) > 10
    store.close()
