"""Social graphs as workloads: edge lists, ingested once, and breadth-first samples of them (Partial 2016, IX-B).

A graph's edge list is a file named after it, such as `facebook_pages.csv.gz`, in the data folder or else in `graphs/`
there; so somebody's own can stand in for ours. `.csv` and `.tsv` begin with the names of their columns, `.txt` is
two names a line with a space or a tab between them. In a directed graph the first of the two follows the second.

What is made of an edge list is kept under a name that has its fingerprint, so another one never meets old samples.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from topicloom.io.whole import replacing_folder
from topicloom.model import InputError, Interest
from topicloom.spark import read_interest, sample
from topicloom.spark.clean import Graph
from topicloom.spark.ingest import IngestOptions, ingest
from topicloom.workloads.breadth_first import breadth_first, reversed_relations

# Its type is pyspark's, which only the pipeline imports.
SparkSession = Any

GRAPHS: Mapping[str, Graph] = {
    "ego-facebook": "undirected",
    "facebook-pages": "undirected",
    "twitter-followers": "directed",
    "slashdot-followers": "directed",
}

_FIFO = "fifo"
_FOLDER = "graphs"
_ENDINGS = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))


class Graphs:
    """The social graphs of a data folder, and what is made of them in `graphs/` of the folder that is written."""

    def __init__(self, data: Path | None, folder: Path) -> None:
        self._data = data
        self._folder = folder / _FOLDER
        self._fingerprints: dict[str, str] = {}

    def fingerprint(self, graph: str) -> str:
        """A hash of the graph's edge list."""
        if graph not in self._fingerprints:
            file = find_edges(self._data, graph)
            try:
                self._fingerprints[graph] = hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
            except OSError as error:
                raise InputError(f"{file}: cannot be read ({error.strerror})") from None
        return self._fingerprints[graph]

    def prepare(self, spark: SparkSession, parameters: Mapping[str, Any], progress: Callable[[str], None]) -> None:
        """Ingest a graph and take a sample of it, each where that is not done yet.

        `parameters` are `graph` and, for a sample, `nodes` and `seed`; without `nodes` it is the whole graph. With
        `order` "fifo" a queue decides who is in the sample; with `followers` "reversed" whoever is followed follows.
        """
        file = find_edges(self._data, parameters["graph"])
        try:
            self._prepare(spark, parameters, file, progress)
        except InputError as error:
            # What is wrong is wrong with this file, whoever noticed.
            if str(file) == error.file:
                raise
            raise InputError(str(error), *error.parameters, file=file) from None

    def _prepare(
        self, spark: SparkSession, parameters: Mapping[str, Any], file: Path, progress: Callable[[str], None]
    ) -> None:
        graph = parameters["graph"]
        whole, part = self._place(graph), self._made(parameters)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not whole.is_dir():
            # A killed run may have left tables without the manifest.
            with replacing_folder(whole) as folder:
                options, tell = _reading(file, graph), lambda step: progress(f"{graph}: {step}")
                ingest(spark, [str(file)], str(folder), options, overwrite=True, progress=tell)
        if not part.exists() and parameters.get("order") != _FIFO:
            nodes, seed = parameters["nodes"], parameters["seed"]
            named = f"{nodes:,} nodes of {graph}, seed {seed}"
            progress(named)
            pairs = sample(read_interest(spark, str(whole)), nodes, seed=seed)
            Interest.from_spark(pairs).write(part)

    def interest(self, parameters: Mapping[str, Any]) -> Interest:
        """Who follows whom, in what was prepared with the same parameters."""
        if parameters.get("order") == _FIFO:
            whole = Interest.read(self._place(parameters["graph"]))
            found = breadth_first(whole, parameters["nodes"], seed=parameters["seed"])
        else:
            found = Interest.read(self._made(parameters))
        return reversed_relations(found) if parameters.get("followers") == "reversed" else found

    def _made(self, parameters: Mapping[str, Any]) -> Path:
        whole = self._place(parameters["graph"])
        if "nodes" not in parameters:
            return whole
        return whole.with_name(f"{whole.name}-{parameters['nodes']}-{parameters['seed']}.parquet")

    def _place(self, graph: str) -> Path:
        return self._folder / f"{graph}-{self.fingerprint(graph)[:8]}"


def find_edges(data: Path | None, graph: str) -> Path:
    """The file with a graph's edge list."""
    if graph not in GRAPHS:
        raise InputError(f"graph '{graph}' is unknown; known are {', '.join(GRAPHS)}")
    stem = graph.replace("-", "_")
    if data is None:
        raise InputError(f"graph '{graph}' needs data, a folder with the edge list {stem}.csv, .tsv or .txt", "data")
    if not data.is_dir():
        raise InputError(f"{data}: no such folder; give one with the edge list {stem}.csv, .tsv or .txt")
    for folder in (data, data / _FOLDER):
        found = [file for ending in _ENDINGS if (file := folder / f"{stem}{ending}").is_file()]
        if len(found) > 1:
            raise InputError(f"{folder}: has {found[0].name} and {found[1].name}; leave one of them")
        if found:
            return found[0]
    raise InputError(f"{data}: has no edge list {stem}.csv, .tsv or .txt, plain or .gz, nor has {_FOLDER}/ in it")


def _reading(file: Path, graph: str) -> IngestOptions:
    """How the rows of an edge list are read."""
    if ".txt" not in file.suffixes:
        return IngestOptions(graph=GRAPHS[graph])
    try:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
            first = lines.readline()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", file=file) from None
    if first.startswith("#"):
        raise InputError("line 1 is a comment; take out the lines that begin with #", file=file)
    return IngestOptions(graph=GRAPHS[graph], header=False, separator="\t" if "\t" in first else " ")
