"""Sessions of Spark: an active one as it is, or one of our own, quiet and stopped at the end.

What is given wins over the environment, that over spark-defaults, and that over the settings here.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topicloom.errors import InputError
from topicloom.io.whole import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OLDEST_JAVA = 17
_OLDEST_SPARK = (4, 1)
_INSTALL = "install Java 17 or 21, on Debian and Ubuntu: apt install openjdk-17-jre-headless or default-jre-headless"
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 20
_DEFAULT_PORTS = {"spark": 7077, "k8s": 443, "sc": 15002}
_DRIVER_BYTES = 4 << 30
_NO_FILE_SYSTEM = re.compile(
    r'No FileSystem for scheme "?([\w+.-]+)|Class org\.apache\.hadoop\.fs\.(\w+)\.\S+ not found'
)
_ON_THIS_MACHINE = re.compile(r"local(\[|-cluster\[|$)")


@dataclass(frozen=True)
class SparkOptions:
    """How to run Spark.

    Args:
        master: where to run, such as `local[4]` or `spark://host:7077`; otherwise `SPARK_MASTER`, otherwise
            `spark.master` of spark-defaults, otherwise all cores of this machine.
        conf: settings by name, over all others.
        verbose: show output of Spark and Java.
        little_data: Java will move little data, so it compiles quickly instead of well.
        remote: a server of Spark Connect, such as `sc://host:15002`, in place of a master.
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    verbose: bool = False
    little_data: bool = False
    remote: str | None = None

    def __post_init__(self) -> None:
        if self.master is not None and self.remote is not None:
            raise InputError("master and remote: give one of them", "master", "remote")


@contextmanager
def spark_session(options: SparkOptions, name: str) -> Iterator[SparkSession]:
    """A session of Spark for the block.

    A session that this process already has is used as it is and left running. Errors of Spark become an `InputError` of
    one line unless `options.verbose`.
    """
    require_pyspark()
    active = _active_session()
    with _short_errors(options):
        if active is not None:
            yield active
            return
        with _own_session(options, name) as spark:
            yield spark


def send_package(spark: SparkSession) -> None:
    """Send this package to the executors of a session, which then need only its dependencies."""
    package = Path(__file__).parents[1]
    with scratch_folder("package") as folder:
        file = folder / "topicloom.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for module in sorted(package.rglob("*.py")):
                archive.write(module, module.relative_to(package.parent))
        spark.addArtifacts(str(file), pyfile=True)


def is_on_this_machine(master: str) -> bool:
    """Whether everything runs here, possibly in several processes."""
    return bool(_ON_THIS_MACHINE.match(master))


def configuration(options: SparkOptions, name: str, scratch: Path) -> dict[str, str]:
    """All settings of a session, whose temporary files go to `scratch`."""
    defaults, given = _spark_defaults(), dict(options.conf)
    if options.remote is not None and not is_on_this_machine(options.remote):
        return given  # all others belong to the server
    master = (
        options.remote
        or options.master
        or given.get("spark.master")
        or os.environ.get("SPARK_MASTER")
        or defaults.get("spark.master")
        or "local[*]"
    )
    ours = _ours(master, scratch, little_data=options.little_data)
    settings = {**ours, **defaults, **given, "spark.app.name": name, "spark.master": master}
    if options.remote is not None:
        del settings["spark.master"]
    return settings


def _ours(master: str, scratch: Path, *, little_data: bool) -> dict[str, str]:
    # Arrow batches and Parquet columns are moved, not rewritten: throughput counts, pauses do not. Code that runs for a
    # minute is not worth C2: without it, ingesting and sampling a graph of 88,234 edges takes 0.55 of the time. Other
    # code is compiled when it has run four times as often as usual: ingesting 3 million rows takes 0.88 of the time.
    java = f"-XX:+UseParallelGC {'-XX:TieredStopAtLevel=1' if little_data else '-XX:CompileThresholdScaling=4'}"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "true",
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


def _spark_defaults() -> dict[str, str]:
    """The settings of spark-defaults.conf; Spark itself would let ours win over them."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    file = Path(os.environ.get("SPARK_CONF_DIR") or Path(home, "conf"), "spark-defaults.conf")
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and not line.startswith(("#", "!")))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _active_session() -> SparkSession | None:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        # One that spark-submit has prepared is its own.
        return SparkSession.builder.getOrCreate() if "PYSPARK_GATEWAY_PORT" in os.environ else None


@cache
def _temporary_files(process: int) -> Path:
    """The folder for Spark's temporary files; the Java of a process goes on using that of its first session."""
    stack = ExitStack()

    def clear() -> None:
        # Not by a copy of this process.
        if os.getpid() == process:
            stack.close()

    atexit.register(clear)
    return stack.enter_context(scratch_folder("spark-files"))


@contextmanager
def _own_session(options: SparkOptions, name: str) -> Iterator[SparkSession]:
    with scratch_folder("spark") as folder:
        settings = configuration(options, name, _temporary_files(os.getpid()))
        where = options.remote or settings["spark.master"]
        require_reachable(where)
        with _environment(_variables(where, str(folder))):
            log = folder / "log"
            log.touch()
            try:
                with warnings.catch_warnings(), _silence(None if options.verbose else log):
                    # Of settings that a server of Connect has already.
                    warnings.simplefilter("ignore", UserWarning)
                    spark = _built(options, settings)
            except Exception as error:
                raise InputError(_why_not_started(where, error, log)) from None
            try:
                if not is_on_this_machine(where):
                    send_package(spark)
                yield spark
            finally:
                # What ends the run may also have ended Java, and then there is nothing to stop.
                with suppress(Exception), _silence(None if options.verbose else log):
                    spark.stop()


def _built(options: SparkOptions, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if options.remote is not None:
        builder = builder.remote(options.remote)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def _silence(log: Path | None) -> Iterator[None]:
    """Send what is written to stderr to a file, by processes that start meanwhile too; Python's own goes on."""
    if log is None:
        yield
        return
    before, python = os.dup(2), sys.stderr
    with log.open("ab") as file, os.fdopen(before, "w", closefd=False) as passed_on:
        os.dup2(file.fileno(), 2)
        if python is sys.__stderr__:
            sys.stderr = passed_on
        try:
            yield
        finally:
            os.dup2(before, 2)
            sys.stderr = python
    os.close(before)


def require_pyspark() -> None:
    """Refuse in one line to go on without Spark, or with one that is too old."""
    try:
        import pyspark
    except ImportError:
        raise InputError("this needs Spark: pip install 'topicloom[spark]'") from None
    found = tuple(int(part) for part in re.findall(r"\d+", pyspark.__version__)[:2])
    if found < _OLDEST_SPARK:
        oldest = ".".join(map(str, _OLDEST_SPARK))
        raise InputError(f"this needs Spark {oldest} or newer and pyspark is {pyspark.__version__}; upgrade pyspark")


def require_reachable(where: str) -> None:
    """Refuse a master or server that does not listen; Spark itself would try for minutes."""
    scheme, _, rest = where.partition("://")
    if scheme not in _DEFAULT_PORTS:
        return
    kind = "remote" if scheme == "sc" else "master"
    errors = []
    for address in rest.partition("/;")[0].split(","):
        parts = urlsplit(address if "://" in address else f"//{address}")
        try:
            host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS[scheme]
        except ValueError:
            raise InputError(f"{kind} {where}: '{address}' is not HOST:PORT") from None
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
            break
        except OSError as error:
            errors.append(f"{host}:{port}: {error.strerror or error}")
    else:
        raise InputError(f"{kind} {where} cannot be reached ({'; '.join(errors)}); check that it runs and its address")
    if scheme == "sc":
        _require_answer(where)


def _require_answer(remote: str) -> None:
    """Refuse a server that listens and says nothing: Spark would wait for it without an end."""
    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return  # starting the session tells which package lacks
    with DefaultChannelBuilder(remote).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_ANSWER_SECONDS)
        except grpc.FutureTimeoutError:
            raise InputError(
                f"remote {remote} does not answer as a Spark Connect server does within {_ANSWER_SECONDS} s"
            ) from None


def _why_not_started(where: str, error: Exception, log: Path) -> str:
    """Why there is no session, in one line."""
    if isinstance(error, ImportError):
        return f"Spark Connect lacks a package ({error}); pip install 'topicloom[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(Path(home, "bin", "java") if home else "java")
    needs_java = not where.startswith("sc://")
    if needs_java and java is None:
        return f"Spark needs Java and none was found, neither in JAVA_HOME nor in PATH; {_INSTALL}"
    version = _java_version(java) if needs_java and java else None
    if version is not None and version < _OLDEST_JAVA:
        return f"Spark needs Java {_OLDEST_JAVA} or newer and {java} is Java {version}; {_INSTALL}, and set JAVA_HOME"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    if any("All masters are unresponsive" in line for line in lines):
        return f"master {where} does not answer as a Spark master does"
    said = in_one_line(error)
    if "JAVA_GATEWAY_EXITED" in said or "Java gateway process exited" in said:
        telling = [line for line in lines if re.search(r"\b(error|exception|cannot|must)\b", line, re.IGNORECASE)]
        said = next(iter(telling or lines[-1:]), said)
    return f"{'remote' if not needs_java else 'master'} {where}: {said}"


def _java_version(java: str) -> int | None:
    ended = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return int(found[1]) if found else None


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
        said = in_one_line(error)
        if missing := _NO_FILE_SYSTEM.search(said):
            raise InputError(
                f"no file system for {missing[1] or missing[2]}:// on the class path of Spark; "
                "give its package by conf spark.jars.packages=GROUP:NAME:VERSION",
                "conf",
            ) from None
        raise InputError(f"Spark: {said} (verbose shows more)", "verbose") from None
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


def _variables(where: str, folder: str) -> dict[str, str]:
    """Environment variables that Spark reads and has no setting for, unless they are set already."""
    # Executors must run the Python that has Arrow, not the first one in PATH.
    variables = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_on_this_machine(where):
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
