"""Findings of `lint` for programs that review changes: SARIF, and annotations of GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from topicloom._version import __version__
from topicloom.errors import printable


class Rule(NamedTuple):
    """A kind of finding: its code, its name in the plural, and how grave it is."""

    code: str
    title: str
    level: str


# Codes stay as they are: people write them into their settings.
RULES: Mapping[str, Rule] = {
    "loop": Rule("TL001", "loops", "error"),
    "duplicate": Rule("TL002", "duplicates", "error"),
    "unreadable": Rule("TL003", "cannot be read", "error"),
    "both-ends": Rule("TL004", "bridged twice between the same brokers", "warning"),
    "unreachable": Rule("TL005", "subscribers that a topic cannot reach", "warning"),
    "unwanted": Rule("TL006", "bridged without subscribers", "warning"),
    "outside": Rule("TL007", "bridges to brokers that are not given", "note"),
}
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


def as_sarif(data: Mapping[str, Any]) -> str:
    """The findings of a lint view as SARIF 2.1.0."""
    rules = [
        {
            "id": rule.code,
            "name": kind,
            "shortDescription": {"text": rule.title},
            "defaultConfiguration": {"level": rule.level},
        }
        for kind, rule in RULES.items()
    ]
    driver = {"name": "topicloom", "semanticVersion": __version__, "rules": rules}
    results = [_result(finding) for finding in data["findings"]]
    report = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(report, indent=2)


def _result(finding: Mapping[str, Any]) -> dict[str, Any]:
    rule = RULES[finding["kind"]]
    places = [{"physicalLocation": _location(where)} for where in finding["where"]]
    return {
        "ruleId": rule.code,
        "level": rule.level,
        "message": {"text": finding["text"]},
        "locations": places[:1],
        **({"relatedLocations": places[1:]} if places[1:] else {}),
    }


def _location(where: str) -> dict[str, Any]:
    file, line = _place(where)
    path = Path(file)
    location: dict[str, Any] = {
        "artifactLocation": {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}
    }
    return location if line is None else location | {"region": {"startLine": line}}


def _place(where: str) -> tuple[str, int | None]:
    """The file and the line of a place."""
    file, _, line = where.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (where, None)


def as_github(data: Mapping[str, Any]) -> str:
    """The findings of a lint view as commands of GitHub's workflows, each at its first place."""
    return "\n".join(_annotation(finding) for finding in data["findings"])


def _annotation(finding: Mapping[str, Any]) -> str:
    rule = RULES[finding["kind"]]
    fields = {"title": f"{rule.code} {finding['kind']}"}
    for where in finding["where"][:1]:
        file, line = _place(where)
        fields = {"file": file} | ({} if line is None else {"line": str(line)}) | fields
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in fields.items())
    places = "".join(f"; {where}" for where in finding["where"][1:])
    return f"::{_GITHUB[rule.level]} {given}::{_escaped(finding['text'] + places)}"


def _escaped(text: str, more: str = "") -> str:
    text = printable(text).replace("%", "%25")
    for character in more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: Mapping[str, Callable[[Any], str]] = {"sarif": as_sarif, "github": as_github}
