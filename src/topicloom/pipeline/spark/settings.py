"""Which master a session uses, and the configuration it starts with.

What is given wins over the environment, that over spark-defaults, and that over what is set here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

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
