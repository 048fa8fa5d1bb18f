"""Latencies between sites, as prices: from a matrix without a header, or from a list of pairs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from topicloom.content.network import Floats
from topicloom.io.tables import text_rows
from topicloom.model import InputError

_MILLISECONDS = ("avg_ms", "ms", "latency", "price")


def read_latency(path: str | os.PathLike[str]) -> Floats:
    """Latencies between all sites of a .csv or .tsv file, plain or .gz; the mean of both ways where they differ.

    A file whose first line names `src` and `dst` has a pair a row, with the latency in `avg_ms`, `ms`, `latency` or
    `price`; any other is a square of numbers.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: {'is a folder; give one file' if file.is_dir() else 'no such file'}")
    rows = text_rows(file)
    if not rows:
        raise InputError(f"{file}: is empty; expected latencies between sites")
    found = _from_pairs(rows, str(file)) if {"src", "dst"} <= set(rows[0]) else _from_square(rows, str(file))
    return (found + found.T) / 2


def _from_square(rows: list[list[str]], where: str) -> Floats:
    found = np.empty((len(rows), len(rows)))
    for line, row in enumerate(rows):
        if len(row) != len(rows):
            raise InputError(
                f"{where}: line {line + 1}: has {len(row)} columns and the file {len(rows)} rows; give a square"
            )
        found[line] = [_number(text, where, line + 1) for text in row]
    return found


def _from_pairs(rows: list[list[str]], where: str) -> Floats:
    header = rows[0]
    column = next((name for name in _MILLISECONDS if name in header), None)
    if column is None:
        raise InputError(f"{where}: no column of latencies; it needs one of {', '.join(_MILLISECONDS)}")
    places = [header.index(name) for name in ("src", "dst", column)]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"{where}: line {line}: has {len(row)} columns and the header {len(header)}")
    sites = sorted({row[place] for row in rows[1:] for place in places[:2]})
    ids = {site: number for number, site in enumerate(sites)}
    found: Floats = np.full((len(sites), len(sites)), np.nan)
    np.fill_diagonal(found, 0.0)
    for line, row in enumerate(rows[1:], start=2):
        found[ids[row[places[0]]], ids[row[places[1]]]] = _number(row[places[2]], where, line)
    found = np.where(np.isnan(found), found.T, found)  # one way stands for both
    if np.isnan(found).any():
        one, other = np.unravel_index(int(np.isnan(found).argmax()), found.shape)
        raise InputError(
            f"{where}: no latency between '{sites[one]}' and '{sites[other]}'; every pair of sites needs one"
        )
    return found


def _number(text: str, where: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < np.inf:
        raise InputError(f"{where}: line {line}: '{text}' is no latency; give a number of at least 0")
    return number
