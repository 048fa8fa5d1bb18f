"""Sessions of Spark: settings, Java and start.

Which master a session uses, and the configuration it starts with.

What is given wins over the environment, that over spark-defaults, and that over what is set here.

Starting Java for Spark, and saying in one line why it does not start.

Spark's Java classes kept in one file, from which Java starts faster.

Before a first query Java reads and checks some twenty thousand classes. An archive of class data has that done: a
session and its first small job then take about half as much of the processor. `topicloom prepare` makes the archive
(`pipeline.preparing`); all later sessions of the same Java and Spark use it. Java itself sees whether it fits, and goes
on without where it does not.

One Spark session for a run: local unless told otherwise, quiet, and stopped at the end.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from topicloom.errors import InputError
from topicloom.io.whole import scratch_folder

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


_LOCAL = re.compile(r"local(\[|$)")
_DRIVER_BYTES = 4 << 30


@dataclass(frozen=True)
class SparkOptions:
    """How to run Spark.

    Args:
        master: where to run, such as `local[4]` or `spark://host:7077`; otherwise `SPARK_MASTER`, otherwise
            `spark.master` of spark-defaults, otherwise all cores of this machine.
        conf: settings by name, over all others.
        driver_memory: of the Java process that plans the work and, on a local master, does it; such as `8g`.
        verbose: show what Spark and Java print.
        little_data: Java will move little data, so it compiles quickly instead of well.
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    driver_memory: str | None = None
    verbose: bool = False
    little_data: bool = False


def is_local(master: str) -> bool:
    """Whether a master runs its tasks in the driver's own process."""
    return bool(_LOCAL.match(master))


def is_on_this_machine(master: str) -> bool:
    """Whether everything runs here, be it in several processes."""
    return is_local(master) or master.startswith("local-cluster[")


def configuration(options: SparkOptions, name: str, spark_home: str, scratch: Path) -> dict[str, str]:
    """All settings of a session, whose temporary files go to `scratch`.

    What is given wins over spark-defaults, and that over ours.
    """
    defaults = _spark_defaults(spark_home)
    given = dict(options.conf)
    if options.driver_memory:
        given["spark.driver.memory"] = options.driver_memory
    master = (
        options.master
        or given.get("spark.master")
        or os.environ.get("SPARK_MASTER")
        or defaults.get("spark.master")
        or "local[*]"
    )
    ours = _ours(master, scratch, little_data=options.little_data)
    return {**ours, **defaults, **given, "spark.master": master, "spark.app.name": name}


def _ours(master: str, scratch: Path, *, little_data: bool) -> dict[str, str]:
    # Arrow batches and Parquet columns are moved, not rewritten: throughput counts, pauses do not. Code that runs for a
    # minute is not worth C2: without it, ingesting and sampling a graph of 88,234 edges takes 0.55 of the time.
    java = "-XX:+UseParallelGC -XX:TieredStopAtLevel=1" if little_data else "-XX:+UseParallelGC"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.driver.extraJavaOptions": java,
        "spark.driver.memory": f"{_driver_bytes() >> 20}m",
        "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
        # YARN's own default is to try for a quarter of an hour.
        "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms": "20000",
    }
    if is_on_this_machine(master):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings["spark.sql.shuffle.partitions"] = str(max(8, 4 * (os.cpu_count() or 1)))
        if "SPARK_LOCAL_DIRS" not in os.environ:
            settings["spark.local.dir"] = str(scratch)
    return settings


def _driver_bytes() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(_DRIVER_BYTES, machine // 2)


def _spark_defaults(spark_home: str) -> dict[str, str]:
    folder = os.environ.get("SPARK_CONF_DIR") or Path(spark_home, "conf")
    file = Path(folder) / "spark-defaults.conf"
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and not line.startswith(("#", "!")))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


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


__all__ = ["SparkOptions", "spark_session"]

# Whether executors are sent this package, `true` unless set to `false`.
_SEND = "spark.topicloom.send"
# A standalone master answers in a second; one that listens and stays silent is not a Spark master.
_ANSWER_SECONDS = 20


@contextmanager
def spark_session(options: SparkOptions, name: str) -> Iterator[SparkSession]:
    """A Spark session, stopped on leaving whatever happens.

    A session that this process already has is used as it is and left running: Spark allows one at a time.
    What goes wrong in Spark comes out as an `InputError` of one line, unless `options.verbose`.
    """
    require_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        with _short_errors(options):
            yield SparkSession.builder.appName(name).getOrCreate()
    else:
        with (
            scratch_folder("spark") as folder,
            (folder / "log").open("w") as log,
            _own_session(options, name, folder, None if options.verbose else log) as spark,
            _short_errors(options),
        ):
            yield spark


@contextmanager
def _short_errors(options: SparkOptions) -> Iterator[None]:
    """Spark's errors as one line, and none of what pyspark logs about them."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    logger = logging.getLogger("SQLQueryContextLogger")
    was_disabled = logger.disabled
    logger.disabled = was_disabled or not options.verbose
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if options.verbose:
            raise
        raise InputError(f"Spark: {in_one_line(error)} (verbose shows more)", "verbose") from None
    finally:
        logger.disabled = was_disabled


def in_one_line(error: Exception) -> str:
    """What a Spark error says, without its Java stack: the last line of a Python trace, else the first line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if isinstance(error, Py4JJavaError):
        exception = error.java_exception
        # That somebody waited for something that failed tells nothing.
        while "awaitResult" in str(exception.getMessage()) and exception.getCause() is not None:
            exception = exception.getCause()
        text = str(exception.toString())
    elif isinstance(error, PySparkException):
        text = error.getMessage() or str(error)
    else:
        text = str(error)
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("SQLSTATE")]
    if any("Traceback (most recent call last)" in line for line in lines[:3]):
        return lines[-1]
    return lines[0] if lines else type(error).__name__


def require_pyspark() -> None:
    """An error in one line where Spark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise InputError("this needs Spark: pip install 'topicloom[spark]'") from None


@contextmanager
def _own_session(options: SparkOptions, name: str, folder: Path, log: IO[str] | None) -> Iterator[SparkSession]:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    home = spark_home()
    settings = with_archive(configuration(options, name, home, folder), home, find_java())
    master = settings["spark.master"]
    require_reachable(master)
    with _environment(_variables(master, str(folder)) | conf_folder(home)):
        gateway = start_jvm(settings, folder, log)
        try:
            conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
            conf.setAll(list(settings.items()))
            context = _context(conf, gateway, master, log)
            try:
                if not is_on_this_machine(master) and settings.get(_SEND) != "false":
                    context.addPyFile(str(_zipped_package(folder)))
                yield SparkSession(context)
            finally:
                # Whatever ends the run may also have ended Java, and then there is nothing to stop.
                with suppress(Py4JError, OSError):
                    SparkSession(context).stop()
        finally:
            SparkContext._active_spark_context = None
            end_jvm(gateway, seconds_to_end(settings))


def _context(conf: Any, gateway: Any, master: str, log: IO[str] | None) -> SparkContext:
    """Connect to the master; one that listens but never answers would hold us for a minute."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark import SparkContext

    gave_up = threading.Event()

    def give_up() -> None:
        gave_up.set()
        gateway.proc.kill()

    patience = threading.Timer(_ANSWER_SECONDS, give_up)
    if master.startswith("spark://"):
        patience.start()
    try:
        return SparkContext(conf=conf, gateway=gateway)
    except (Py4JError, OSError) as error:
        if gave_up.is_set():
            raise InputError(f"master {master} does not answer as a Spark master does") from None
        why = in_one_line(error) if isinstance(error, Py4JJavaError) else last_words(log)
        raise InputError(f"master {master}: {why}") from None
    finally:
        patience.cancel()


def _variables(master: str, folder: str) -> dict[str, str]:
    """Environment variables that Spark reads and has no setting for, where they are not set already."""
    # Executors must run the Python that has Arrow, not the first one in PATH.
    variables = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_on_this_machine(master):
        # Without a folder for its executors, local-cluster would write into the installed pyspark.
        variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": folder}
    return {key: value for key, value in variables.items() if key not in os.environ}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for a while."""
    before = {key: os.environ.get(key) for key in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _zipped_package(folder: Path) -> Path:
    """Our own package as a file that Spark can send to executors, so that they need only its dependencies."""
    package = Path(__file__).parents[1]
    file = folder / "topicloom.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for module in sorted(package.rglob("*.py")):
            archive.write(module, module.relative_to(package.parent))
    return file
