"""A new fleet file for some hosts, which may come from an Ansible inventory."""

from __future__ import annotations

import ipaddress
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kinds import kind_named
from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.io.tables import TOML_BYTES, read_limited

_YAML = (".yml", ".yaml")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:(?P<port>\d{1,5}))?")
# A range of hosts in an inventory, such as broker[01:20:2] or rack-[a:f].
_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]")
_MOST_HOSTS = 1_000_000

_HEAD = """\
# A fleet of brokers, for topicloom; docs/brokers.md lists all keys.
# A node of your subscriptions is the broker of the same name below.

[defaults]
kind = {kind}
# Links use TLS, and trust the certificates of the system:
#tls = true
# Links log in. The password is read from a variable, or from a file with password_file:
#credentials = {{ username = "bridge", password_env = "BRIDGE_PASSWORD" }}
# Quality of service of all topics, and the most links of a broker:
#qos = 1
#max_links = 8
"""
_COLLECT = """
# How `topicloom collect` asks brokers who subscribes; see docs/collect.md.
#[defaults.collect]
#{key} = "{place}"
"""
_APPLY = """
# How `topicloom apply` takes configurations to brokers; see docs/control.md.
#[defaults.apply]
#via = "ssh"
#path = "/etc/{kind}/conf.d/topicloom{ending}"
#reload = "systemctl restart {kind}"
"""


@dataclass(frozen=True)
class Host:
    """A broker of a new fleet: its name, where it is, and its port if it is not the usual one."""

    name: str
    host: str
    port: int | None = None


def host_from(text: str) -> Host:
    """Return the broker that a text [NAME=]HOST[:PORT] describes; the name is the host unless given."""
    name, equals, place = text.rpartition("=")
    try:
        host, port = str(ipaddress.ip_address(place)), None
    except ValueError:
        found = _HOST_AND_PORT.fullmatch(place)
        if found is None or (equals and not name):
            raise InputError(f"host {quoted(text)}: expected HOST, HOST:PORT or NAME=HOST:PORT") from None
        host, port = found["host"].strip("[]"), found["port"]
    return Host(name or host, host, None if port is None else int(port))


def with_short_names(hosts: Sequence[Host]) -> list[Host]:
    """Return the hosts, those called by a host name with its first label if that is the name of no other."""
    short = {host.name: _label(host.name) for host in hosts}
    counts = Counter(short.values())
    return [Host(short[each.name] if counts[short[each.name]] == 1 else each.name, *_place(each)) for each in hosts]


def _label(name: str) -> str:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.partition(".")[0] or name
    return name


def _place(host: Host) -> tuple[str, int | None]:
    return host.host, host.port


def read_inventory(path: Path, group: str | None = None) -> list[Host]:
    """Return the hosts of an Ansible inventory in INI, or in YAML (`.yml`), or those of one group of it."""
    text = read_limited(path, TOML_BYTES).decode("utf-8", "replace")
    hosts: dict[str, Mapping[str, Any]] = {}
    members: dict[str, set[str]] = {}
    children: dict[str, set[str]] = {}
    for owner, name, variables in (_yaml_rows if path.suffix.lower() in _YAML else _ini_rows)(text, path):
        if variables is None:
            children.setdefault(owner, set()).add(name)
            continue
        for each in _expanded(name, path):
            hosts[each] = {**hosts.get(each, {}), **variables}
            members.setdefault(owner, set()).add(each)
    wanted = set(hosts)
    if group is not None:
        if group not in members.keys() | children.keys():
            raise InputError(f"{path}: has no group {quoted(group)}")
        wanted, left = set(), [group]
        seen: set[str] = set()
        while left:
            one = left.pop()
            wanted |= members.get(one, set())
            left += children.get(one, set()) - seen
            seen.add(one)
    return [Host(name, str(values.get("ansible_host", name))) for name, values in hosts.items() if name in wanted]


# Rows of an inventory: a group, a host with its variables, or a group within with None.
_Row = tuple[str, str, Mapping[str, Any] | None]


def _ini_rows(text: str, path: Path) -> Iterator[_Row]:
    group, part = "ungrouped", ""
    for number, line in enumerate(text.splitlines(), 1):
        line = re.split(r"(?:^|\s)[#;]", line, maxsplit=1)[0].strip()
        if line.startswith("["):
            found = re.fullmatch(r"\[([^\]:]+)(?::(vars|children))?\]", line)
            if found is None:
                raise InputError("expected a group such as [brokers]", file=path, row=number)
            group, part = found[1], found[2] or ""
        elif line and part != "vars":
            name, *settings = line.split()
            variables = dict(one.split("=", 1) for one in settings if "=" in one)
            yield group, name, None if part == "children" else {key: v.strip("'\"") for key, v in variables.items()}


def _yaml_rows(text: str, path: Path) -> Iterator[_Row]:
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{path}: YAML needs PyYAML; pip install 'topicloom[live]', or give an inventory in INI"
        ) from None
    try:
        groups = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        raise InputError(f"{path}: is not YAML") from None
    left = [(str(name), table) for name, table in _table(groups, path).items()]
    while left:
        group, table = left.pop()
        for name, variables in _table(_table(table, path).get("hosts"), path).items():
            yield group, str(name), _table(variables, path)
        for name, inner in _table(_table(table, path).get("children"), path).items():
            yield group, str(name), None
            left.append((str(name), inner))


def _table(value: Any, path: Path) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: is not an inventory; expected groups with hosts")
    return value


def _expanded(name: str, path: Path) -> list[str]:
    """The hosts that a name with ranges stands for."""
    found = _RANGE.search(name)
    if found is None:
        return [name]
    first, last, step = found[1], found[2], int(found[3] or 1) or 1
    numeric = first.isdecimal() and last.isdecimal()
    begin, end = (int(first), int(last)) if numeric else (ord(first[0]), ord(last[0]))
    numbers = range(begin, end + 1, step)
    if len(numbers) > _MOST_HOSTS:
        raise InputError(f"{path}: {quoted(name)} stands for more than {_MOST_HOSTS:,} hosts")
    shown = [f"{number:0{len(first)}}" if numeric else chr(number) for number in numbers]
    head, tail = name[: found.start()], name[found.end() :]
    return [each for part in shown for each in _expanded(f"{head}{part}{tail}", path)]


def fleet_text(hosts: Sequence[Host], kind_name: str, where: str) -> str:
    """Return a fleet file with comments; `where` names it in errors."""
    twice = next((name for name, count in Counter(host.name for host in hosts).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two brokers are called {quoted(twice)}; give names, as in {twice}-2=HOST")
    kind = kind_named(kind_name)
    tables = {host.name: {"host": host.host} | ({} if host.port is None else {"port": host.port}) for host in hosts}
    fleet_from_tables({"defaults": {"kind": kind.name}, "brokers": tables}, where)
    text = _HEAD.format(kind=json.dumps(kind.name))
    for key, form in list(kind.sources.items())[:1]:
        place = "http://{host}:8080" if form.over_http else f"/var/log/{kind.name}/{{broker}}.log"
        text += _COLLECT.format(key=key, place=place)
    if kind.ending is not None:
        text += _APPLY.format(kind=kind.name, ending=kind.ending)
    for name, table in tables.items():
        key = name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)
        lines = [f"{setting} = {json.dumps(value, ensure_ascii=False)}" for setting, value in table.items()]
        text += "\n".join([f"\n[brokers.{key}]", *lines, ""])
    return text
