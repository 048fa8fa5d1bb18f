"""Running one measurement in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import Any


def in_own_process(module: str, **arguments: Any) -> dict[str, Any]:
    """Run `module.main(**arguments)` in a new process; give its result with `peak_bytes` added."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.alone", module, json.dumps(arguments)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{module} {arguments}: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _main() -> None:
    module, arguments = sys.argv[1], json.loads(sys.argv[2])
    result = __import__(module, fromlist=["main"]).main(**arguments)
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**result, "peak_bytes": kibibytes * 1024}))


if __name__ == "__main__":
    _main()
