"""What every task of a job needs besides its rows: in the function itself if it is small, else as a file.

Spark sends a function to each task, and an artifact once to each executor. A function of 140 MB stopped the server of
Spark Connect; an artifact of 110 MB took 2.4 s there, and 1.1 s without Connect.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from topicloom.io.whole import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

IN_FUNCTION_BYTES = 16_000_000
# A value for some of many small jobs goes with each of them if it is no larger.
WITH_A_CELL_BYTES = 1_000_000

# The latest value that a worker has read, by its key: a worker runs many tasks of a job.
_read: dict[str, Any] = {}


@dataclass(frozen=True)
class Shared(Generic[T]):
    """A value that tasks read, each worker once."""

    key: str
    content: bytes | None

    @property
    def value(self) -> T:
        """The value, in a task."""
        if self.key not in _read:
            found = pickle.loads(self.content) if self.content is not None else self._from_file()
            _read.clear()
            _read[self.key] = found
        value: T = _read[self.key]
        return value

    def _from_file(self) -> Any:
        from pyspark import SparkFiles

        with Path(SparkFiles.get(self.key)).open("rb") as file:
            return pickle.load(file)


@contextmanager
def shared(spark: SparkSession, value: T, in_function: int | None = None) -> Iterator[Shared[T]]:
    """Share a value with the tasks of jobs that end within the block; `in_function` are the most bytes sent to each."""
    key = f"topicloom-{uuid4().hex}"
    content = pickle.dumps(value, protocol=5)
    if len(content) <= (IN_FUNCTION_BYTES if in_function is None else in_function):
        yield Shared(key, content)
        return
    with scratch_folder("shared") as folder:
        (folder / key).write_bytes(content)
        del content
        spark.addArtifacts(str(folder / key), file=True)
        yield Shared(key, None)
