"""Starting Java for Spark, and saying in one line why it does not start."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from topicloom.errors import InputError

_OLDEST_JAVA = 17
_INSTALL = "install Java 17 or 21, on Debian and Ubuntu: apt install openjdk-17-jre-headless or default-jre-headless"
_CONNECT_SECONDS = 5
_DEFAULT_PORTS = {"spark": 7077, "k8s": 443}


def start_jvm(settings: Mapping[str, str], folder: Path, log: IO[str] | None) -> Any:
    """Start Spark's Java process and give pyspark's gateway to it.

    What pyspark needs meanwhile goes to the folder. What the process prints goes to the log, or to the screen where
    that is None.
    """
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    streams: dict[str, Any] = {} if log is None else {"stdout": log, "stderr": log}
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        return launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, OSError):
        raise InputError(_why_not_started(log)) from None
    finally:
        tempfile.tempdir = before


def end_jvm(gateway: Any, seconds: int) -> None:
    """End a Java process that `start_jvm` started; it is killed where it takes longer than that."""
    from pyspark import SparkContext

    SparkContext._gateway = None
    SparkContext._jvm = None
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None:
        return
    gateway.shutdown()
    # Java leaves when its standard input ends, and clears its temporary files.
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def require_reachable(master: str) -> None:
    """Refuse a standalone or Kubernetes master that nobody listens at; Spark itself would try for minutes."""
    scheme, _, rest = master.partition("://")
    if scheme not in _DEFAULT_PORTS:
        return
    errors = []
    for address in rest.split(","):
        parts = urlsplit(address if "://" in address else f"//{address}")
        try:
            host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS[scheme]
        except ValueError:
            raise InputError(f"master {master}: '{address}' is not HOST:PORT") from None
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
            return
        except OSError as error:
            errors.append(f"{host}:{port}: {error.strerror or error}")
    raise InputError(f"master {master} cannot be reached ({'; '.join(errors)}); check that it runs and its address")


def last_words(log: IO[str] | None) -> str:
    """The line of a log that says most likely what went wrong."""
    if log is None:
        return "see above"
    lines = [line.strip() for line in Path(log.name).read_text(errors="replace").splitlines()]
    telling = [line for line in lines if re.search(r"\b(error|exception|cannot|must)\b", line, re.IGNORECASE)]
    return next(iter(telling or lines[-1:]), "it printed nothing")


def _why_not_started(log: IO[str] | None) -> str:
    try:
        java = require_java()
    except InputError as error:
        return str(error)
    version = _java_version(java)
    if version is not None and version < _OLDEST_JAVA:
        return f"Spark needs Java {_OLDEST_JAVA} or newer and {java} is Java {version}; {_INSTALL}, and set JAVA_HOME"
    return f"Spark did not start: {last_words(log)}"


def spark_home() -> str:
    """The folder of the installed Spark."""
    from pyspark.find_spark_home import _find_spark_home

    return str(_find_spark_home())


def find_java() -> str | None:
    """The Java that Spark would take, if there is one."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(Path(home, "bin", "java") if home else "java")


def require_java() -> str:
    """The same, or an error that says how to install it."""
    java = find_java()
    if java is None:
        raise InputError(f"Spark needs Java and none was found, neither in JAVA_HOME nor in PATH; {_INSTALL}")
    return java


def _java_version(java: str) -> int | None:
    ended = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return int(found[1]) if found else None
