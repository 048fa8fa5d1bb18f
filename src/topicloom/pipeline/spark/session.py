"""One Spark session for a run: local unless told otherwise, quiet, and stopped at the end."""

from __future__ import annotations

import logging
import os
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.files.temporary import scratch_folder
from topicloom.pipeline.spark.class_archive import conf_folder, seconds_to_end, with_archive
from topicloom.pipeline.spark.jvm import end_jvm, find_java, last_words, require_reachable, spark_home, start_jvm
from topicloom.pipeline.spark.settings import SparkOptions, configuration, is_on_this_machine

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

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
    package = Path(__file__).parents[2]
    file = folder / "topicloom.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for module in sorted(package.rglob("*.py")):
            archive.write(module, module.relative_to(package.parent))
    return file
