"""Random fleets: hashes of plans, configurations, differences, findings and explanations, to compare two versions.

    python tools/fleets.py OUT.json                    plan 300 random fleets of each kind and write their hashes
    python tools/fleets.py --compare A.json B.json     list the fleets that differ; status 1 if there are any
    python tools/fleets.py --only nats-17 --keep DIR   write the files and the output of one fleet to DIR

A fleet is drawn from its kind and its number. It has subscriptions with or without roles and filters, an overlay by a
designer or of random links, and a fleet file with TLS, credentials, QoS, virtual hosts and constraints. A second state
of the same fleet differs a little. All goes through the command line; `PYTHONPATH=other/tree/src` takes other code.

A refused command is recorded by its status alone, as texts of errors may change. Provenance in plans is left out.
CHANGED says which columns of the file of 0.2 are newer, as they differ on purpose, and why.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from in_process import Ended, topicloom

KINDS = ("mosquitto", "rabbitmq", "nats")
PROTOCOL = {"mosquitto": "mqtt", "rabbitmq": "amqp"}
NAMES = ["berlin", "paris", "rome", "oslo", "bern", "new york", "zürich", "a.b", "Ω", "x" * 90, 'q"uote', "東京"]
REGIONS = ["north", "south", "west"]
DESIGNERS = ["gm", "low-oda", "minmax-oda", "cd-oda-2", "ring-per-topic", "tree"]
CONSTRAINED = ["gm", "low-oda", "minmax-oda"]
# What is recorded of a fleet, in this order.
COLUMNS = (
    "plan",
    "planned",
    "files",
    "diff",
    "back",
    "links",
    "lint",
    "lint-interests",
    "lint-damaged",
    "why-link",
    "why-topic",
    "why-broker",
)
DIGITS = 8
SHOWN = 12
# Columns of fleets-0.2.json that are not of 0.2 but of the change that is named.
_OPENS = "a NATS server opens one link, as it passes nothing on between two that it opens"
CHANGED = {
    "plan": _OPENS,
    "files": f"a Mosquitto that opens no links gets max_inflight_messages for QoS 2 alone; {_OPENS}",
    "diff": "brokers of RabbitMQ and NATS get no step for another QoS, those of RabbitMQ get one for another vhost; as plan",
    "back": "as diff",
    "lint-damaged": "lint names topics that loop, not the widest patterns, and finds more; lines have other numbers; as plan",
    "why-link": "as plan",
    "why-broker": "as plan",
}

Row = tuple[str, str, str]
Pair = tuple[str, str]


def draw(kind: str, number: int) -> Fleet:
    """Draw the fleet of this kind and number."""
    return Fleet(kind, random.Random(f"{kind} {number}"))


class Fleet:
    """Everything that is drawn at random; `change` draws the second state of the fleet."""

    def __init__(self, kind: str, rng: random.Random) -> None:
        self.kind, self.rng = kind, rng
        self.names = rng.sample(NAMES[:8] if rng.random() < 0.6 else NAMES, rng.randint(3, 8))
        self.filters = kind in PROTOCOL and rng.random() < 0.35
        self.roles = rng.random() < (0.7 if self.filters else 0.35)
        # Trees by price take no relays, which NATS always has; a few fleets record the refusal.
        self.priced = rng.random() < (0.03 if kind == "nats" else 0.3)
        self.relays = rng.random() < (0.03 if self.priced else 0.85)
        self.rated = rng.random() < 0.3
        self.topics = sorted({self._topic() for _ in range(rng.randint(2, 12))})
        self.rows = [row for name in self.names for row in self._wants(name)] or [(self.names[0], self.topics[0], "")]
        self.tables = self._tables()
        self.prices = self._prices()
        self.rates = [(topic, rng.randint(0, 500) / 10) for topic in self.topics if not re.search(r"[+#*>$]", topic)]
        self.design()

    def design(self) -> None:
        """Choose a designer, or draw a random connected overlay."""
        self.designer = self.rng.choice(CONSTRAINED if self.constrained else DESIGNERS)
        one_tree = self.kind == "nats" and self.rng.random() < 0.9
        if one_tree and not self.constrained:
            self.designer = "tree"
        self.links: list[Pair] = []
        if self.rng.random() < 0.4 and not self.constrained:
            order = self.rng.sample(self.names, len(self.names))
            pairs = {(order[i], order[self.rng.randrange(i)]) for i in range(1, len(order))}
            if not one_tree:
                pairs |= {tuple(self.rng.sample(order, 2)) for _ in range(self.rng.randint(0, 4))}
            wanting = {node for node, _, _ in self.rows}
            chosen = {(min(pair), max(pair)) for pair in pairs if wanting.issuperset(pair)}
            self.links = sorted(chosen)

    def change(self) -> None:
        """Change some subscriptions, and now and then a broker, the QoS or the overlay."""
        rng = self.rng
        for _ in range(rng.randint(1, 4)):
            if len(self.rows) > 2 and rng.random() < 0.5:
                self.rows.pop(rng.randrange(len(self.rows)))
            else:
                self.rows.append((rng.choice(self.names), rng.choice(self.topics), self._role()))
        name = rng.choice(self.names)
        if rng.random() < 0.3:
            self.tables["brokers"][name]["host"] = "moved.example.net"
        if rng.random() < 0.2:
            self.tables["defaults"]["qos"] = rng.randint(0, 2)
        if rng.random() < 0.2:
            self.tables["brokers"][name]["tls"] = True
        if rng.random() < 0.2:
            self.rows = [row for row in self.rows if row[0] != name] or self.rows
        if rng.random() < 0.5 or self.links:
            self.design()

    def write(self, folder: Path) -> None:
        """Write subscriptions, fleet file, prices, rates and random links to a folder."""
        folder.mkdir()
        header = ("node", "topic", "role") if self.roles else ("node", "topic")
        write_rows(folder / "subs.csv", header, sorted({row[: len(header)] for row in self.rows}))
        (folder / "fleet.toml").write_text("\n".join(as_toml(self.tables)) + "\n", encoding="utf-8")
        write_rows(folder / "prices.csv", ("source", "target", "price"), self.prices)
        write_rows(folder / "rates.csv", ("topic", "rate"), self.rates)
        if self.links:
            write_rows(folder / "links.csv", ("source", "target"), self.links)

    def _topic(self) -> str:
        rng = self.rng
        parts = [rng.choice(["plant", "site", "m"]), f"line{rng.randint(1, 3)}", rng.choice(["temp", "speed", "ä"])]
        parts = parts[: rng.randint(1, 3)]
        if self.filters and rng.random() < 0.5:
            one, rest = ("+", "#") if self.kind == "mosquitto" else ("*", "#")
            parts[rng.randrange(len(parts))] = one
            if rng.random() < 0.4:
                parts = [*parts[: rng.randint(1, len(parts))], rest]
        topic = ("/" if self.kind == "mosquitto" else ".").join(parts)
        if self.filters and self.kind == "mosquitto" and rng.random() < 0.1:
            topic = rng.choice(["$share/group/" + topic, "$SYS/broker/uptime"])
        if rng.random() < 0.003:
            topic = rng.choice(["two words", "$kept", "amq.kept", "a..b", ">"])
        return topic

    def _role(self) -> str:
        return self.rng.choice(["sub", "pub", "both", "sub"])

    def _wants(self, name: str) -> list[Row]:
        share = self.rng.choice([0.2, 0.5, 0.8])
        return [(name, topic, self._role()) for topic in self.topics if self.rng.random() < share]

    def _tables(self) -> dict[str, Any]:
        rng = self.rng
        defaults: dict[str, Any] = {}
        if rng.random() < 0.5:
            defaults["tls"] = rng.choice([True, {"ca_file": "/etc/ca.crt"}])
        if rng.random() < 0.5:
            defaults["credentials"] = self._credentials()
        if rng.random() < 0.4:
            defaults["qos"] = rng.randint(0, 2)
        if self.kind == "rabbitmq" and rng.random() < 0.5:
            defaults["vhost"] = rng.choice(["/", "fleet", "a b"])
        brokers = {name: self._broker(i) for i, name in enumerate(self.names)}
        tables: dict[str, Any] = {"defaults": defaults, "brokers": brokers}
        if rng.random() < 0.4:
            tables["topics"] = {topic: {"qos": rng.randint(0, 2)} for topic in self.topics if rng.random() < 0.4}
        self.constrained = rng.random() < 0.3
        if self.constrained:
            self._constrain(tables)
        return tables

    def _broker(self, i: int) -> dict[str, Any]:
        rng = self.rng
        broker: dict[str, Any] = {"host": rng.choice([f"h{i}.example.net", f"10.0.0.{i + 1}", f"fd00::{i + 1}"])}
        if rng.random() < 0.3:
            broker["port"] = rng.randint(1024, 60_000)
        if rng.random() < 0.2:
            files = {"cert_file": "/etc/client.crt", "key_file": "/etc/client.key"}
            broker["tls"] = rng.choice([True, False, {"ca_file": "/etc/own.crt"}, {"ca_file": "/etc/own.crt", **files}])
        if rng.random() < 0.2:
            broker["credentials"] = self._credentials()
        if self.kind != "rabbitmq" and rng.random() < 0.1:
            broker["accepts"] = False
        if self.kind == "rabbitmq" and rng.random() < 0.2:
            broker["vhost"] = "own"
        return broker

    def _credentials(self) -> dict[str, str]:
        held = self.rng.choice([{"password_env": "GUARD_PASSWORD"}, {"password_file": "password.txt"}])
        return {"username": self.rng.choice(["bridge", "ü ser"]), **held}

    def _constrain(self, tables: dict[str, Any]) -> None:
        rng = self.rng
        for broker in tables["brokers"].values():
            if rng.random() < 0.3:
                broker["max_links"] = rng.randint(3, 5)
            broker["region"] = rng.choice(REGIONS)
        for word in ("forbid", "keep", "require"):
            if rng.random() < 0.3:
                tables[word] = [{"between": rng.sample(self.names, 2)}]
        if rng.random() < 0.2:
            tables.setdefault("forbid", []).append({"regions": rng.sample(REGIONS, 2)})

    def _prices(self) -> list[tuple[str, str, object]]:
        names = self.names
        rows = [(a, b, self.rng.randint(1, 90) / 2) for a in names for b in names if a < b and self.rng.random() < 0.6]
        return [*rows, ("*", "*", 40)]


def write_rows(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def as_toml(tables: dict[str, Any]) -> Iterator[str]:
    """Lines of a TOML file; strings in JSON are strings in TOML."""
    for name, value in tables.items():
        if isinstance(value, list):
            for table in value:
                yield f"[[{name}]]"
                yield from (f"{key} = {in_line(entry)}" for key, entry in table.items())
        else:
            yield f"[{name}]"
            yield from (f"{in_line(key)} = {in_line(entry)}" for key, entry in value.items())


def in_line(value: Any) -> str:
    """A value of a TOML file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{in_line(key)} = {in_line(entry)}" for key, entry in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def record(kind: str, number: int, folder: Path) -> dict[str, str]:
    """Draw a fleet in an empty folder, run all commands on it and give what they made, by column."""
    os.chdir(folder)
    os.environ["GUARD_PASSWORD"] = "p@ss word"
    Path("password.txt").write_text("file's secret\n")
    fleet = draw(kind, number)
    fleet.write(Path("old"))
    found = {"planned": said(planned(fleet, "old")), "plan": without_provenance("old.json")}
    fleet.change()
    fleet.write(Path("new"))
    planned(fleet, "new")
    if Path("old.json").exists():
        found |= deployed(fleet)
        if Path("new.json").exists():
            found["diff"] = said(topicloom("diff", "old.json", "new.json", "--json"))
            found["back"] = said(topicloom("diff", "new.json", "old.json", "--json"))
    return found


def planned(fleet: Fleet, state: str) -> Ended:
    """Make an overlay and a plan of one state of a fleet."""
    reading = ("--filters", PROTOCOL[fleet.kind]) if fleet.filters else ()
    prices = ("--prices", f"{state}/prices.csv") if fleet.priced else ()
    rates = ("--rates", f"{state}/rates.csv") if fleet.priced and fleet.rated else ()
    overlay = f"{state}/links.csv"
    if not fleet.links:
        overlay = f"{state}/links.parquet"
        within = ("--fleet", f"{state}/fleet.toml") if fleet.constrained else ()
        cost = prices if fleet.designer in CONSTRAINED else ()
        made = ("--algorithm", fleet.designer, "--out", overlay, "--json")
        ended = topicloom("design", f"{state}/subs.csv", *made, *reading, *within, *cost)
        if ended.status:
            return ended
    relays = ("--relays", "allow" if fleet.relays else "forbid")
    to = ("--fleet", f"{state}/fleet.toml", "--target", fleet.kind, "--out", f"{state}.json", "--json")
    return topicloom("plan", f"{state}/subs.csv", overlay, *to, *relays, *reading, *prices, *rates)


def deployed(fleet: Fleet) -> dict[str, str]:
    """What is made of a plan: configurations, links and findings in them, explanations."""
    rendered = topicloom("render", "old.json", "--out", "conf", "--json")
    found = {"files": said(rendered) if rendered.status else together(Path("conf"))}
    if not rendered.status:
        imported = topicloom("import", "conf", "--out", "there.parquet", "--json")
        found["links"] = said(imported)
    plan = json.loads(Path("old.json").read_text(encoding="utf-8"))
    if not rendered.status and fleet.kind != "rabbitmq":
        found["lint"] = said(topicloom("lint", "conf", "--json"))
        if fleet.kind == "mosquitto":
            reading = ("--filters", PROTOCOL[fleet.kind]) if fleet.filters else ()
            found["lint-interests"] = said(topicloom("lint", "conf", "--interests", "new/subs.csv", *reading, "--json"))
        damage(fleet, plan, Path("conf"))
        found["lint-damaged"] = said(topicloom("lint", "conf", "--json"))
    asked = {"--broker": fleet.rng.choice(plan["brokers"])["name"], "--topic": fleet.rng.choice(fleet.topics)}
    if plan["topics"]:
        asked["--topic"] = fleet.rng.choice(plan["topics"])["name"]
    if plan["links"]:
        asked["--link"] = ",".join(fleet.rng.choice(plan["links"]))
    for option, value in asked.items():
        found[f"why-{option[2:]}"] = said(topicloom("explain", "old.json", option, value, "--json"))
    return found


def damage(fleet: Fleet, plan: dict[str, Any], folder: Path) -> None:
    """Add a cycle of bridges over up to three brokers to rendered configurations."""
    files = sorted(folder.glob("*.conf"))
    chosen = fleet.rng.sample(files, min(3, len(files)))
    for path, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        # Names are encoded there; the first line ends in ' at HOST:PORT'.
        first = other.read_text(encoding="utf-8").splitlines()[0]
        broker = next(one for one in plan["brokers"] if first.endswith(f" at {one['host']}:{one['port']}"))
        host = f"[{broker['host']}]" if ":" in broker["host"] else broker["host"]
        text = path.read_text(encoding="utf-8")
        if fleet.kind == "nats":
            urls = f'  {{\n    urls: ["nats://{host}:{broker["port"]}"]\n  }}\n'
            text = text.replace("remotes: [\n", f"remotes: [\n{urls}", 1)
        else:
            direction = fleet.rng.choice(["out", "in", "both"])
            text += f"\nconnection damage\naddress {broker['host']}:{broker['port']}\ntopic # {direction} 1\n"
        path.write_text(text, encoding="utf-8")


def said(ended: Ended) -> str:
    """Output of a command in JSON, without times; or its status if it was refused."""
    if ended.status > 1:
        return f"status {ended.status}"
    found = json.loads(ended.out)
    found.pop("seconds", None)
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)


def without_provenance(path: str) -> str:
    """The text of a plan without how and from what it was made; empty if there is none."""
    if not Path(path).exists():
        return ""
    return re.sub(r'^ "made": .*\n', "", Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)


def together(folder: Path) -> str:
    """Names and texts of the files of a folder."""
    files = sorted(folder.iterdir())
    return "".join(f"== {file.name}\n{file.read_text(encoding='utf-8')}" for file in files)


def hashed(found: dict[str, str]) -> str:
    """A short hash for each column; `-` for what could not be made, the status if it was refused."""
    words = []
    for column in COLUMNS:
        text = found.get(column, "")
        short = hashlib.blake2b(text.encode(), digest_size=DIGITS // 2).hexdigest()
        words.append("-" if not text else text.replace(" ", "-") if text.startswith("status") else short)
    return " ".join(words)


def record_some(kind: str, numbers: Sequence[int]) -> dict[str, str]:
    """Hashes of some fleets by name."""
    rows = {}
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            rows[f"{kind}-{number}"] = hashed(record(kind, number, Path(folder)))
            os.chdir("/")
    return rows


def record_all(kinds: Sequence[str], count: int, workers: int) -> dict[str, str]:
    """Hashes of all fleets by name, made by several processes."""
    rows: dict[str, str] = {}
    step = 25
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        parts = [(kind, range(first, min(first + step, count))) for first in range(0, count, step) for kind in kinds]
        for done in pool.map(record_some, *zip(*parts, strict=True)):
            rows |= done
    return {f"{kind}-{number}": rows[f"{kind}-{number}"] for kind in kinds for number in range(count)}


def compare(old: dict[str, Any], new: dict[str, Any], columns: Sequence[str]) -> int:
    """Print how two files of hashes differ; 1 if they do."""
    common = [name for name in old["fleets"] if name in new["fleets"]]
    if not common:
        print("no fleet is in both files")
        return 1
    for column, reason in CHANGED.items():
        print(f"{column}: differs from 0.2 on purpose, and is compared with what it was then: {reason}")
    by_column: Counter[str] = Counter()
    different = {}
    for name in common:
        was = dict(zip(old["columns"], old["fleets"][name].split(), strict=True))
        now = dict(zip(new["columns"], new["fleets"][name].split(), strict=True))
        changed = [column for column in columns if was.get(column) != now.get(column)]
        by_column.update(changed)
        if changed:
            different[name] = changed
    for name, changed in list(different.items())[:SHOWN]:
        print(f"{name}: {', '.join(changed)}")
    if different:
        print("by column: " + ", ".join(f"{column} {number}" for column, number in by_column.most_common()))
        print(f"{len(different)} of {len(common)} fleets differ")
        print(f"to look at one: --only {next(iter(different))} --keep DIR, with both versions")
        return 1
    print(f"{len(common)} fleets are equal in {', '.join(columns)}")
    return 0


def as_text(rows: dict[str, str]) -> str:
    """A file of hashes: one fleet a line."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    return f'{{"columns": {json.dumps(COLUMNS)},\n "fleets": {{\n{lines}}}}}\n'


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT.json")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    parser.add_argument("--columns", default=",".join(COLUMNS), help="what to compare, with commas between")
    parser.add_argument("--count", type=int, default=300, help="how many fleets of each kind")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", metavar="NAME", help="one fleet, such as nats-17")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="with --only: where to write what it made")
    given = parser.parse_args()
    if given.compare:
        old, new = (json.loads(path.read_text()) for path in given.compare)
        return compare(old, new, given.columns.split(","))
    if given.only and given.keep:
        kind, number = given.only.split("-")
        given.keep.mkdir(parents=True)
        keep = given.keep.absolute()
        for column, text in record(kind, int(number), keep).items():
            (keep / f"found-{column}").write_text(text, encoding="utf-8")
        return 0
    if given.out is None:
        parser.error("give OUT.json, --compare A B, or --only NAME --keep DIR")
    rows = record_all([given.kind] if given.kind else KINDS, given.count, given.workers)
    given.out.write_text(as_text(rows))
    refused = Counter(word for row in rows.values() for word in row.split() if word == "-" or word.startswith("status"))
    print(f"{len(rows)} fleets; not made: {dict(refused)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
