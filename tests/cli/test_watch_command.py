"""`topicloom watch` at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli

from topicloom.brokers.store import opened
from topicloom.model.events import Event

EVENTS = '{"id": 1, "event": "join", "node": "c", "topics": ["t"]}\n'


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("subs.csv").write_text("node,topic\na,t\nb,t\n")
    Path("more.csv").write_text("node,topic\na,t\nz,t\n")
    Path("events.jsonl").write_text(EVENTS)
    Path("fleet.toml").write_text(
        '[defaults.apply]\nvia = "folder"\npath = "files/{broker}.conf"\ncheck = "nothing"\n'
        '[brokers]\na = { host = "a" }\nb = { host = "b" }\nc = { host = "c" }\n'
    )
    return tmp_path


def test_shown_and_applied(fleet: Path, cli: Cli) -> None:
    given = ("watch", "--fleet", "fleet.toml", "--state", "state", "--no-health", "--once")
    shown = cli(*given, "--subs", "subs.csv", "--events", "events.jsonl")
    assert (shown.status, shown.err) == (1, "it only shows what it would do\n")
    assert "1 events taken, the last one 1" in shown.out
    assert "would put new files on a" in shown.out
    assert list((fleet / "files").iterdir()) == []
    done = cli(*given, "--events", "events.jsonl", "--apply", "--listen", "127.0.0.1:0")
    assert (done.status, done.err) == (0, "")
    assert "status at http://127.0.0.1:" in done.out
    assert "applied: " in done.out
    assert any("connection" in path.read_text() for path in (fleet / "files").iterdir())
    again = cli(*given, "--apply")
    assert (again.status, again.out) == (0, "")


def test_links_that_stay_in_a_cycle_are_no_tree(fleet: Path, cli: Cli) -> None:
    pairs = "".join(f'[[keep]]\nbetween = ["{one}", "{other}"]\n' for one, other in ("ab", "bc", "ca"))
    with Path("fleet.toml").open("a") as file:
        file.write(pairs)
    ended = cli(
        "watch", "--fleet", "fleet.toml", "--state", "state", "--subs", "subs.csv", "--once", "--target", "nats"
    )
    problem = "topicloom: fleet.toml: keep and require form a cycle through 'a' - 'c'; a tree allows none\n"
    assert (ended.status, ended.err) == (2, problem)
    assert not Path("state").exists()


def test_a_store_with_a_name_that_is_too_long(fleet: Path, cli: Cli) -> None:
    given = ("watch", "--fleet=fleet.toml", "--state=state", "--subs=subs.csv", "--once", "--no-health", "--apply")
    assert cli(*given).status == 0
    event = Event(7, "change", "a", ("t" * 65_536,)).to_json()
    with opened(Path("state")) as state:
        state.store.append([f'{{"event": {event}}}'])
    ended = cli(*given)
    assert ended.status == 2
    assert ended.err.count("\n") == 1
    assert 'cannot be followed (fleet.db: a name in "add" has 65,536 bytes' in ended.err


def test_the_last_broker_cannot_leave(fleet: Path, cli: Cli) -> None:
    Path("events.jsonl").write_text(
        '{"id": 1, "event": "leave", "node": "a"}\n{"id": 2, "event": "leave", "node": "b"}\n'
    )
    given = ("--state", "state", "--subs", "subs.csv", "--events", "events.jsonl", "--no-health", "--once", "--apply")
    ended = cli("watch", "--fleet", "fleet.toml", *given)
    assert (ended.status, ended.err) == (0, "")
    assert "refused event 2: leave of 'b', which is the last one" in ended.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "state: is new; give the subscriptions that there are, or let brokers be asked"),
        (
            ("--subs", "subs.csv", "--between", "1-2"),
            "a window is two times of the day, such as 22:00-05:30, not '1-2'",
        ),
        (("--subs", "subs.csv", "--events", "no.jsonl"), "no.jsonl: no such file or folder"),
        (("--subs", "more.csv"), "fleet.toml: has no broker 'z'; every node of the subscriptions needs one"),
        (("--changes", "0"), "--changes: '0' is not a whole number of 1 or more; see 'topicloom watch --help'"),
        (("--down", "nan"), "--down: 'nan' is not a number of 0 or more; see 'topicloom watch --help'"),
        (("--collect", "--events", "events.jsonl"), "give either --collect or --events"),
        (
            ("--subs", "subs.csv", "--listen", "0.0.0.0:0"),
            "0.0.0.0 is no address of loopback alone, so looking there needs a token",
        ),
        (
            ("--subs", "subs.csv", "--listen", "127.0.0.1:0", "--token-env", "NO_SUCH"),
            "the token should be in the variable NO_SUCH, which is not set",
        ),
    ],
)
def test_refusals(fleet: Path, cli: Cli, arguments: tuple[str, ...], problem: str) -> None:
    ended = cli("watch", "--fleet", "fleet.toml", "--state", "state", *arguments)
    assert (ended.status, ended.err) == (2, f"topicloom: {problem}\n")
