"""Valid files made invalid, each in its own way: bytes, lines, JSON, TOML, tables, folders."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

_BIG = 10**30
_WORDS = (
    "", " ", "a", "n0", "n1", "t/0", "-1", "0", "1", "2", "1.5", "1e308", "nan", "inf", "-inf", "true", "null", "None",
    str(2**31), str(2**63), str(2**64), str(_BIG), "9" * 5000, "x" * 3000, "é", "\u202e", "\x00", "\x07", "\x1b[31m",
    "#", "+", "t/#", "a//b", "*", ">", "$SYS/x", "..", "../../x", "/", "'", '"', "\\", "%s", "{broker}", "\n", "\r",
    "\t",     "amqp://u:pw@x", "<script>alert(1)</script>", "=1+1", "2026-01-01", "\ufeff", "\ud800",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    *_WORDS, None, True, False, 0, 1, -1, 3, 65536, 2**31, 2**63, 2**64, _BIG, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), [], {}, [[]], [None], {"": None}, [1, 2, 3], ["n0", "n1"],
)  # fmt: skip
_TOML = (
    '""', '"x"', "-1", "0", "1.5", "nan", "inf", "true", "[]", "{}", "[1]", "2026-01-01", "9" * 5000, '"\\u202E"',
    "'''\n\n'''", "[" * 3000 + "]" * 3000, str(2**63), str(2**64), '{ a = 1 }', '["n0", "n1"]', '"amqp://u:pw@x"',
)  # fmt: skip


def mutate(path: Path, dice: random.Random) -> None:
    """Change a file, or something in a folder, in one to three ways."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        if path.is_dir():
            _mutate_folder(path, dice)
        elif path.is_file():
            _mutate_file(path, dice)


def odd_value(dice: random.Random) -> str:
    """A value for an option, without what no command line can hold."""
    return dice.choice(_WORDS).replace("\x00", "").encode("utf-8", "replace").decode()


def _mutate_folder(folder: Path, dice: random.Random) -> None:
    inside = sorted(path for path in folder.rglob("*"))
    files = [path for path in inside if path.is_file()]
    if not files:
        return
    chosen = dice.choice(files)
    way = dice.random()
    if way < 0.8:
        _mutate_file(chosen, dice)
    elif way < 0.87:
        chosen.unlink()
    elif way < 0.9:
        chosen.unlink()
        chosen.mkdir()
    elif way < 0.93:
        (chosen.parent / "stray").write_text("x")
    elif way < 0.96:
        shutil.copyfile(chosen, chosen.with_name(f"again-{chosen.name}"))
    else:
        shutil.rmtree(dice.choice([path for path in inside if path.is_dir()] or [folder]))


def _mutate_file(file: Path, dice: random.Random) -> None:
    ways: list[Callable[[Path, random.Random], None]] = [_bytes]
    if file.suffix in (".json",):
        ways += [_json] * 4
    elif file.suffix == ".toml":
        ways += [_toml] * 4
    elif file.suffix == ".parquet":
        ways += [_table] * 5
    elif file.suffix != ".gz":
        ways += [_lines] * 4
    dice.choice(ways)(file, dice)


def _bytes(file: Path, dice: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(dice.choice((1, 1, 2, 8))):
        place = dice.randrange(len(data) + 1)
        way = dice.randrange(7)
        if way == 0 and data:
            data[min(place, len(data) - 1)] ^= 1 << dice.randrange(8)
        elif way == 1:
            del data[place:]
        elif way == 2:
            data[place:place] = dice.randbytes(dice.choice((1, 4, 200)))
        elif way == 3:
            data[place:place] = data[: dice.randrange(50)]
        elif way == 4:
            del data[place : place + dice.choice((1, 10))]
        elif way == 5:
            data[place : place + 4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"))
        else:
            data[place:place] = dice.choice((b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\r", b'"', b"\n\n"))
    file.write_bytes(data)


def _lines(file: Path, dice: random.Random) -> None:
    lines = file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    place = dice.randrange(len(lines))
    way = dice.randrange(7)
    if way == 0:
        del lines[place]
    elif way == 1:
        lines.insert(place, dice.choice(lines))
    elif way == 2:
        dice.shuffle(lines)
    elif way == 3:
        lines.insert(place, dice.choice(_WORDS))
    else:
        words = re.split(r"([,\s:\"/={}\[\]]+)", lines[place])
        words[dice.randrange(len(words))] = dice.choice(_WORDS)
        lines[place] = "".join(words)
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


def _toml(file: Path, dice: random.Random) -> None:
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    values = [number for number, line in enumerate(lines) if "=" in line]
    if not values or dice.random() < 0.2:
        _lines(file, dice)
        return
    place = dice.choice(values)
    key, _, value = lines[place].partition("=")
    way = dice.randrange(5)
    if way == 0:
        lines[place] = f"{key}= {dice.choice(_TOML)}"
    elif way == 1:
        lines[place] = f"{dice.choice(('x', 'port', 'host', 'qos', 'max_links', 'accepts', 'apply', 'tls'))} ={value}"
    elif way == 2:
        lines[place] = re.sub(r'"[^"]*"|\d+|true|false', lambda _: dice.choice(_TOML), lines[place], count=1)
    elif way == 3:
        lines.insert(place, f"{key}= {dice.choice(_TOML)}")
    else:
        key = dice.choice(("max_links", "region", "credentials", "tls", "qos", "port", "collect", "apply", "accepts"))
        lines.insert(place, f"{key} = {dice.choice(_TOML)}")
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


def _json(file: Path, dice: random.Random) -> None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        _bytes(file, dice)
        return
    places = list(_places(content))
    if not places:
        _bytes(file, dice)
        return
    holder, key = dice.choice(places)
    way = dice.randrange(6)
    if way <= 2:
        holder[key] = dice.choice(_VALUES)
    elif way == 3:
        del holder[key]
    elif way == 4:
        holder[key] = json.loads(json.dumps(dice.choice(places)[0]))
    elif isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    else:
        holder[dice.choice(("x", "", "name", "port"))] = holder[key]
    text = json.dumps(content)
    if dice.random() < 0.05:
        text = text.replace("[", "[" * 3000, 1)
    file.write_text(text, encoding="utf-8")


def _places(content: Any) -> Any:
    """All (holder, key) of lists and objects."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in list(items):
        yield content, key
        yield from _places(value)


def _table(file: Path, dice: random.Random) -> None:
    try:
        table = pyarrow.parquet.read_table(file)
    except (pa.ArrowException, OSError):
        _bytes(file, dice)
        return
    if not table.num_columns:
        return
    name = dice.choice(table.column_names)
    place = table.column_names.index(name)
    way = dice.randrange(9)
    if way == 0:
        table = table.drop_columns([name])
    elif way == 1:
        table = table.rename_columns(
            [dice.choice(("x", "node", other)) if other == name else other for other in table.column_names]
        )
    elif way == 2:
        table = table.slice(dice.randrange(table.num_rows + 1), dice.randrange(table.num_rows + 1))
    elif way == 3:
        table = pa.concat_tables([table, table.slice(0, dice.randrange(table.num_rows + 1))])
    elif way == 4:
        table = table.append_column(name, table[name])
    elif way == 5:
        table = table.take(pa.array(dice.sample(range(table.num_rows), table.num_rows), pa.int64()))
    elif way == 6:
        table = table.replace_schema_metadata(
            {
                key: dice.choice((b"", b"{}", b"x", b"[1]", b"9" * 5000, value))
                for key, value in (table.schema.metadata or {}).items()
            }
        )
    else:
        column = _odd_column(table[name], dice)
        if column is None:
            return
        table = table.set_column(place, name, column)
    before = file.read_bytes()
    try:
        pyarrow.parquet.write_table(table, file)
    except (pa.ArrowException, OSError, ValueError):
        file.write_bytes(before)
        _bytes(file, dice)


def _odd_column(column: Any, dice: random.Random) -> Any:
    """The column with odd values, or of an odd type."""
    try:
        values = column.to_pylist()
        if dice.random() < 0.5 and values:
            values[dice.randrange(len(values))] = dice.choice(
                (None, 0, -1, 1, 2**31, 2**62, 0.5, float("nan"), float("inf"), *_WORDS[:40])
            )
            return pa.array(values, column.type)
        kind = dice.choice(
            (pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.bool_(),
             "null",              "list", "dictionary", "broken")
        )  # fmt: skip
        if kind == "null":
            return pa.nulls(len(values))
        if kind == "list":
            return pa.array([[value] for value in values])
        if kind == "dictionary":
            return pa.array(values).dictionary_encode()
        if kind == "broken":
            raw = pa.array([b"\xff\xfe%d" % number for number in range(len(values))], pa.binary())
            return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
        return pa.array(values).cast(kind, safe=False)
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError):
        return None
