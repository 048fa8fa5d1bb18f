"""Run instances, compare them with the best known results, and write the page of these."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.instances.catalogue import INSTANCES, Instance
from topicloom import design
from topicloom.io.whole import write_whole
from topicloom.metrics import measure
from topicloom.model import Interest, Overlay

RECORDS = Path(__file__).with_name("records.json")
PAGE = Path(__file__).parents[2] / "docs" / "instances.md"
# Kinds that `--check` runs.
QUICK = ("tiny", "small", "worst")
# Rounds of its searches, and by how much these may then be above the best known.
_QUICK_ROUNDS = 100_000
_QUICK_SLACK = 0.02

Record = dict[str, Any]


def read_records() -> dict[str, Record]:
    """The best known results by name of the instance."""
    records: dict[str, Record] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return records


def solved(interest: Interest, instance: Instance, rounds: int | None, seed: int, start: str | None) -> Record:
    """What `exact`, or a search of so many rounds, reaches, and a lower bound."""
    if instance.rounds is None:
        overlay, found_by = design(interest, "exact"), "exact"
    else:
        rounds = rounds or instance.rounds
        prices, aim = (None, "links") if instance.prices is None else (instance.prices(interest), "price")
        overlay = design(interest, "search", prices=prices, aim=aim, rounds=rounds, seed=seed, start=start)
        more = {"--aim": aim if prices else None, "--start": start}
        found_by = f"search --rounds {rounds} --seed {seed}"
        found_by += "".join(f" {option} {value}" for option, value in more.items() if value)
    if not measure(interest, overlay, diameters=False).topic_connected:
        raise SystemExit(f"{found_by} left topics unconnected")
    return {**_sizes(interest), **_reached(overlay), "found_by": found_by}


def _sizes(interest: Interest) -> Record:
    sizes = {"nodes": interest.node_count, "topics": interest.topic_count, "subscriptions": interest.subscription_count}
    return {**sizes, "fingerprint": interest.fingerprint}


def _reached(overlay: Overlay) -> Record:
    assert overlay.provenance is not None
    facts = overlay.provenance.facts
    found = {"links": len(overlay), "max_degree": int(overlay.degrees.max(initial=0))}
    if "price" in facts:
        return {**found, "price": facts["price"], "bound": facts["lower_bound"]}
    return {**found, "bound": len(overlay) if facts.get("optimal") else int(facts["lower_bound"])}


def lowered(record: Record) -> Any:
    """What a record has little of: the price of its links if they have prices, else their number."""
    return record.get("price", record["links"])


def is_better(found: Record, record: Record | None) -> bool:
    """Whether a result beats the best known: in links, then in degree."""
    return record is None or (lowered(found), found["max_degree"]) < (lowered(record), record["max_degree"])


def renewed(found: Record, record: Record | None) -> Record:
    """The better of two results, with the better of their bounds."""
    if record is None:
        return found
    best = found if is_better(found, record) else record
    return {**best, "bound": max(found["bound"], record["bound"])}


def check(console: Console, names: list[str]) -> bool:
    """Compare instances with their records by short searches; tell whether all are as they should be."""
    records, wrong = read_records(), 0
    for name in names:
        instance, record = INSTANCES[name], records.get(name)
        if record is None or instance.missing:
            console.print(f"{name}: {'no record yet' if record is None else f'skipped, {instance.data} is absent'}")
            continue
        interest = instance.make()
        problem = ""
        if interest.fingerprint != record["fingerprint"]:
            problem = "is another interest than that of the record"
        else:
            found = solved(interest, instance, min(_QUICK_ROUNDS, instance.rounds or _QUICK_ROUNDS), 0, None)
            best, reached = lowered(record), lowered(found)
            most = best * (1 + (_QUICK_SLACK if instance.rounds else 0))
            if found["bound"] > best:
                problem = f"bound {found['bound']:,} is above the {_of(record)} of the record"
            elif reached > most:
                problem = f"{_of(found)}, best known are {_of(record)}"
        wrong += bool(problem)
        console.print(f"{name}: {problem or _compared(found, record)}", highlight=False)
    console.print(f"{len(names)} instances, {wrong} not as they should be", highlight=False)
    return not wrong


def _of(record: Record) -> str:
    price = f" at a price of {record['price']:,.2f}" if "price" in record else ""
    return f"{record['links']:,} links{price}"


def _compared(found: Record, record: Record) -> str:
    reached, best = (f"{_of(each)}, degree {each['max_degree']:,}" for each in (found, record))
    return f"{reached}; best known {best}{', beaten' if is_better(found, record) else ''}"


def renew(console: Console, names: list[str], rounds: int | None, seed: int, start: str | None) -> None:
    """Run instances in full; keep what beats the records, and write the page."""
    for name in names:
        instance = INSTANCES[name]
        if instance.missing:
            console.print(f"{name}: skipped, {instance.data} is absent")
            continue
        found, records = solved(instance.make(), instance, rounds, seed, start), read_records()
        record = records.get(name)
        console.print(
            f"{name}: {'new: ' if record is None else ''}{_compared(found, record or found)}", highlight=False
        )
        records[name] = renewed(found, record)
        write_whole(
            RECORDS, json.dumps({name: records[name] for name in INSTANCES if name in records}, indent=1) + "\n"
        )
        write_whole(PAGE, page())


def page() -> str:
    """docs/instances.md."""
    lines = [_INTRODUCTION]
    records = read_records()
    for name, instance in INSTANCES.items():
        record = records.get(name)
        if record is None:
            cells = [name, "", "", "", "", "", "not run yet"]
        else:
            gap = lowered(record) / record["bound"] - 1 if record["bound"] else 0
            sizes = f"{record['nodes']:,} x {record['topics']:,}, {record['subscriptions']:,}"
            best = _of(record).replace(" links", ""), f"{record['max_degree']:,}", f"{record['bound']:,}"
            proved = "optimal" if gap == 0 else f"{gap:.1%}" if gap >= 0.001 else f"{gap:.2%}"
            cells = [name, sizes, *best, proved, record["found_by"]]
        lines.append(f"| {' | '.join([cells[0], instance.made, *cells[1:]])} |")
    return "\n".join(lines) + "\n"


_INTRODUCTION = """\
# Instances

A collection to compare designers on: from tiny interests with a proved optimum to 100,000 nodes.
`benchmarks/instances/catalogue.py` makes them; `benchmarks/instances/records.json` holds sizes, fingerprints and best
known results. *Gap* is how far the links may be from the optimum, by a lower bound that `topicloom bound` proves.
Real data lie beside the checkout or in `TOPICLOOM_DATA`, and are never copied. What is not there is skipped.

```text
./dev bench instances --check         the quick ones, in about a minute: as good as the best known?
./dev bench instances NAME ...        these in full; a record that is beaten is renewed, and this page with it
```

To beat a record, find an overlay with fewer links, or with as many and a lower max degree. `topicloom measure` says
whether it connects all topics.

| name | made by | nodes x topics, subscriptions | links | max degree | bound | gap | found by |
|---|---|---|---|---|---|---|---|"""


def main(arguments: list[str]) -> int:
    """`./dev bench instances`."""
    parser = argparse.ArgumentParser(prog="./dev bench instances", description="Compare with the best known results.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(INSTANCES)}; the quick ones if none")
    parser.add_argument("--check", action="store_true", help="compare by short searches; renew nothing")
    parser.add_argument("--rounds", type=int, help="rounds of searches in place of those of the catalogue")
    parser.add_argument("--seed", type=int, default=0, help="seed of searches (default: %(default)s)")
    parser.add_argument("--start", help="designer that searches begin with")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in INSTANCES]
    if unknown:
        parser.error(f"unknown instance {unknown[0]!r}; known are {', '.join(INSTANCES)}")
    names = given.names or [name for name, instance in INSTANCES.items() if instance.kind in QUICK]
    console = Console(width=150)
    if given.check:
        return 0 if check(console, names) else 1
    renew(console, names, given.rounds, given.seed, given.start)
    return 0
