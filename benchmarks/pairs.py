"""Two trees of topicloom side by side: is anything slower in the newer one?

    python -m benchmarks.pairs OLD_TREE NEW_TREE [--only TEXT] [--rounds 7] [--quick]

Each tree has a process of its own, and both work in turns; what counts is the least of all processor seconds of a case.
A ratio above 1.10 is measured again in new processes before it is marked, as memory may lie unluckily in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.pair_cases import FIRST_USE

MOST = 1.10
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TOPICLOOM_DATA", ROOT.parent / "shared" / "data"))
# Cases that take longer than this in all get fewer rounds, though not fewer than two.
_LONG_SECONDS = 60.0


class Process:
    """Does the work of cases on one tree."""

    def __init__(self, tree: Path, options: list[str], cache: Path | None = None) -> None:
        command = [sys.executable, str(ROOT / "benchmarks" / "pair_cases.py"), "--tree", str(tree), *options]
        self._process = subprocess.Popen(
            command, env=_environment(tree, cache), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def prepare(self, case: str) -> None:
        """Make ready for the work of a case."""
        self._ask(case)

    def run(self) -> dict[str, float]:
        """Do the work once and return processor seconds by label."""
        seconds: dict[str, float] = json.loads(self._ask(""))
        return seconds

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit("a process ended early; the lines above say why")
        return answer

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _environment(tree: Path, cache: Path | None) -> dict[str, str]:
    path = os.pathsep.join([str(tree.resolve() / "src"), str(ROOT / "tools")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment |= {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": str(cache / "numba")}
    return environment


def compared(processes: list[Process], case: str, rounds: int) -> list[dict[str, float]]:
    """Return the least processor seconds of each tree, by label."""
    least: list[dict[str, float]] = [{}, {}]
    for process in processes:
        process.prepare(case)
    spent = 0.0
    for number in range(rounds):
        for found, process in zip(least, processes, strict=True):
            seconds = process.run()
            spent += sum(seconds.values())
            _lower(found, seconds)
        if spent > _LONG_SECONDS and number > 0:
            break
    return least


def first_uses(trees: list[Path], case: str, options: list[str], rounds: int) -> list[dict[str, float]]:
    """Return the same for processes that find nothing compiled, a new one for each time."""
    least: list[dict[str, float]] = [{}, {}]
    for _ in range(min(3, rounds)):
        for found, tree in zip(least, trees, strict=True):
            with tempfile.TemporaryDirectory() as cache, Process(tree, options, Path(cache)) as process:
                process.prepare(case)
                _lower(found, process.run())
    return least


def _lower(least: dict[str, float], seconds: dict[str, float]) -> None:
    for label, each in seconds.items():
        least[label] = min(each, least.get(label, each))


def _slower(least: list[dict[str, float]]) -> bool:
    return any(least[1][label] > MOST * least[0][label] for label in least[0].keys() & least[1].keys())


def main() -> int:
    """Compare all cases and print a line for each; the status is 1 if any is slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description="Compare the speed of two trees.")
    parser.add_argument("trees", nargs=2, type=Path, metavar="TREE", help="the older one, then the newer one")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases that have this in their names")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="a fifth of the size, and three rounds unless given")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of real data sets (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the seconds there too")
    given = parser.parse_args()
    rounds = 3 if given.quick and given.rounds == parser.get_default("rounds") else given.rounds
    options = ["--data", str(given.data.resolve()), *(["--quick"] if given.quick else [])]
    if not given.data.is_dir():
        print(f"no real data: there is no folder {given.data}", file=sys.stderr)
    script = [sys.executable, str(ROOT / "benchmarks" / "pair_cases.py"), *options]
    cases = [case for case in json.loads(subprocess.check_output(script, text=True)) if given.only in case]
    found: dict[str, list[float]] = {}
    marked = 0
    print(f"{'case':64} {'old':>10} {'new':>10} {'ratio':>6}")
    with Process(given.trees[0], options) as old, Process(given.trees[1], options) as new:
        for case in cases:
            if case.startswith(FIRST_USE):
                least = first_uses(given.trees, case, options, rounds)
            else:
                least = compared([old, new], case, rounds)
                if _slower(least):
                    with Process(given.trees[0], options) as one, Process(given.trees[1], options) as other:
                        for known, again in zip(least, compared([one, other], case, rounds), strict=True):
                            _lower(known, again)
            for label in [label for label in least[0] if label in least[1]]:
                name = f"{case}, {label}" if label else case
                found[name] = [least[0][label], least[1][label]]
                ratio = least[1][label] / least[0][label]
                marked += ratio > MOST
                mark = "  slower" if ratio > MOST else ""
                print(f"{name:64} {found[name][0]:10.4f} {found[name][1]:10.4f} {ratio:6.3f}{mark}", flush=True)
    print(f"{len(found)} compared, {marked} slower than {MOST:.2f} times")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if marked else 0


if __name__ == "__main__":
    sys.exit(main())
