"""Spark's Java classes kept in one file, from which Java starts faster.

Before a first query Java reads and checks some twenty thousand classes. An archive of class data has that done: a
session and its first small job then take about half as much of the processor. `topicloom prepare` makes the archive
(`pipeline.preparing`); all later sessions of the same Java and Spark use it. Java itself sees whether it fits, and goes
on without where it does not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_OPTIONS = "spark.driver.extraJavaOptions"
_MAKE = "-XX:ArchiveClassesAtExit="
_USE = "-XX:SharedArchiveFile="
_END_SECONDS = 10
# Writing an archive takes Java some five seconds on an idle machine.
_WRITE_SECONDS = 300


def archive_file(spark_home: str, java: str) -> Path:
    """Where the archive of a Spark and a Java is kept."""
    binary = Path(java).resolve()
    told = f"{spark_home} {binary} {binary.stat().st_mtime_ns}"
    name = f"spark-classes-{hashlib.blake2b(told.encode(), digest_size=8).hexdigest()}.jsa"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topicloom" / name


def making(archive: Path) -> dict[str, str]:
    """Settings of a session that writes an archive when it ends."""
    return {_OPTIONS: f"{_MAKE}{archive}"}


def with_archive(settings: Mapping[str, str], spark_home: str, java: str | None) -> dict[str, str]:
    """Settings of a session that uses the archive, if there is one and Java was told nothing else about it."""
    options = settings.get(_OPTIONS, "")
    with suppress(OSError, RuntimeError):  # no Java, or no home
        archive = archive_file(spark_home, java or "")
        if archive.is_file() and _MAKE not in options and _USE not in options:
            return {**settings, _OPTIONS: f"{options} {_USE}{archive}"}
    return dict(settings)


def seconds_to_end(settings: Mapping[str, str]) -> int:
    """How long Java may take to end: longer where it writes an archive."""
    return _WRITE_SECONDS if _MAKE in settings.get(_OPTIONS, "") else _END_SECONDS


def conf_folder(spark_home: str) -> dict[str, str]:
    """The variable that hides a folder of settings with nothing but spark-defaults in it, which Java is given anyway.

    Java takes no archive where a folder with files in it is among its classes.
    """
    given = Path(os.environ.get("SPARK_CONF_DIR") or "nowhere")
    if given.is_dir() and {file.name for file in given.iterdir()} <= {"spark-defaults.conf"}:
        return {"SPARK_CONF_DIR": str(Path(spark_home, "conf"))}
    return {}
