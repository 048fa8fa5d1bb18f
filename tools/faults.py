"""Faults put into the code one at a time, to see that tests catch them.

    python tools/faults.py                 put in all faults but those of Spark; status 1 if one survives
    python tools/faults.py --only NAME     one fault, or several with commas between
    python tools/faults.py --spark         also those that need Spark
    python tools/faults.py --list          find the place of each fault, and run nothing

A fault is a text of the code and another one in its place, and the test modules of which one must fail then. The text
must be in src exactly once, in any file; test modules are looked for by name in all of tests. So both may move. All
happens in a temporary copy of src and tests. Tests of brokers and browsers are left out, and slow ones where others do.

Before the faults, the tests run without any. What they compile is used again, unless the fault is in compiled code.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "campaign", "pyproject.toml")
DECORATORS = ("kernel()", "tight_kernel()", "inner_kernel()", "inlined()", "step()", "@implements(")
SECONDS = 900


@dataclass(frozen=True)
class Fault:
    """The text `right` becomes `wrong`; one of the test modules must fail, perhaps only in tests marked as slow."""

    name: str
    right: str
    wrong: str
    tests: tuple[str, ...]
    slow: bool = False
    spark: bool = False


FAULTS = (
    # Designers
    Fault(
        "greedy-ties-descend",
        "while place > 0 and ties[place - 1] > tie:",
        "while place > 0 and ties[place - 1] < tie:",
        ("test_greedy",),
    ),
    Fault(
        "low-oda-patience",
        "enough = rule.k * e1",
        "enough = rule.k + e1",
        ("test_greedy",),
    ),
    Fault(
        "degree-may-rise",
        'it another link."""\n    allow(search.allowed, node, degree[node] < highest and',
        'it another link."""\n    allow(search.allowed, node, degree[node] <= highest and',
        ("test_greedy",),
    ),
    Fault(
        "priced-degree-may-rise",
        "confined.allowed[u] = degree[u] < highest",
        "confined.allowed[u] = degree[u] <= highest",
        ("test_priced",),
    ),
    Fault(
        "priced-budget-passed",
        "if none and highest == degrees.most:",
        "if none and highest > degrees.most:",
        ("test_priced",),
        slow=True,
    ),
    Fault(
        "max-links-ignored",
        "    spare[node] -= 1\n    allow(search.allowed",
        "    spare[node] -= 0\n    allow(search.allowed",
        ("test_constrained",),
    ),
    Fault(
        "kept-link-takes-no-room",
        "spare[a if b is None else b] -= 1",
        "spare[a if b is None else b] -= 0",
        ("test_constrained", "test_constrained_commands"),
    ),
    Fault(
        "both-refuse-connections",
        "if not one[1] and not two[1]:",
        "if not one[1] and two[1]:",
        ("test_constrained",),
    ),
    # Routes and flows
    Fault(
        "routes-crowd",
        "better = load[at] < load[link[below]]",
        "better = load[at] > load[link[below]]",
        ("test_routes",),
    ),
    Fault(
        "loose-relays-stay",
        "if below[i] == 0 and not wants[i]:",
        "if below[i] < 0 and not wants[i]:",
        ("test_routing",),
    ),
    Fault(
        "flows-come-back",
        "_carried(published[lower], all_wanted - wanted[lower], protocol)",
        "_carried(published[lower], all_wanted, protocol)",
        ("test_plans_with_filters",),
        slow=True,
    ),
    Fault(
        "federation-hops",
        '"max-hops": route.diameter}',
        '"max-hops": route.diameter - 1}',
        ("test_plans",),
    ),
    Fault(
        "policy-pattern-open",
        '"pattern": f"^{pattern}$"',
        '"pattern": f"^{pattern}"',
        ("test_broker_names",),
    ),
    Fault(
        "long-names-stay",
        "if len(encoded) <= _LONGEST:",
        "if len(encoded) >= 0:",
        ("test_plans",),
    ),
    Fault(
        "readable-secrets",
        "_write(written[-1], text, 0o600 if secret else 0o666)",
        "_write(written[-1], text, 0o666)",
        ("test_plans",),
    ),
    # Differences of plans
    Fault(
        "diff-new-before-cleared",
        "steps += [Step(joint.names[broker]) for broker in (*last, *waiting)]",
        "steps += [Step(joint.names[broker]) for broker in (*waiting, *last)]",
        ("test_plan_diffs",),
    ),
    Fault(
        "diff-clears-no-broker",
        "waiting, last = brokers[knot][:-1], brokers[knot][-1:]",
        "waiting, last = [], brokers[knot]",
        ("test_plan_diffs",),
    ),
    Fault(
        "diff-families-reversed",
        "for gone in (before - after, after - before)",
        "for gone in (after - before, before - after)",
        ("test_plans_with_filters",),
        slow=True,
    ),
    Fault(
        "diff-interruption-missed",
        "if fewest < len(stay) - 1:",
        "if fewest < len(stay) - 2:",
        ("test_plan_diffs",),
    ),
    Fault(
        "nats-denials-stale",
        "mixed(links, np.full(len(links), topics)))",
        "links)",
        ("test_nats",),
    ),
    # Filters and loops
    Fault(
        "dollar-matches-wildcard",
        'label is NO_DOLLAR and not level.startswith("$")',
        'label is NO_DOLLAR and not level.startswith("%")',
        ("test_filters",),
    ),
    Fault(
        "rest-covers-none",
        "if level == self.one or (level == self.rest and not self.rest_may_be_none):",
        "if level == self.one:",
        ("test_filters",),
    ),
    Fault(
        "private-bridge-only",
        "if wire is arrival.wire and (outward or wire.bridge.private):",
        "if wire is arrival.wire:",
        ("test_lint",),
    ),
    Fault(
        "prefixes-swapped",
        "                drop, put = put, drop",
        "                drop, put = drop, put",
        ("test_lint",),
    ),
    # Events, journal and state
    Fault(
        "equal-event-ids",
        "if event.id <= last:",
        "if event.id < last:",
        ("test_events",),
    ),
    Fault(
        "fingerprint-without-nodes",
        "_finished(_mixed(node_hashes) ^",
        "_finished(_mixed(node_hashes) * np.uint64(0) ^",
        ("test_interest",),
    ),
    Fault(
        "snapshot-keeps-no-rest",
        '"DELETE FROM entries WHERE number <= ?", (upto,)',
        '"DELETE FROM entries WHERE number <= ? + 100", (upto,)',
        ("test_state",),
    ),
    Fault(
        "damaged-store-opened",
        'if result != "ok":',
        'if result == "":',
        ("test_store",),
    ),
    Fault(
        "refusals-not-stored",
        "return text if refused is None else json.dumps(",
        "return text if True else json.dumps(",
        ("test_state",),
    ),
    Fault(
        "backups-owe-nothing",
        "key[u] -= price & ((key[u] >> np.uint64(63)) - np.uint64(1))",
        "key[u] -= price & (key[u] >> np.uint64(63))",
        ("test_mending_twins",),
    ),
    # Apply and watch
    Fault(
        "move-turned-too-far",
        "done=self.done + (self.begun if back else -self.begun)",
        "done=self.done",
        ("test_applying",),
    ),
    Fault(
        "unreached-forgotten",
        'self.store.execute("INSERT OR REPLACE INTO owed VALUES (?, ?)", (step.broker, had))',
        "pass",
        ("test_applying", "test_owed_brokers"),
    ),
    Fault(
        "returns-at-once",
        "        broker.losses += not answers\n",
        "        broker.losses += answers\n",
        ("test_watching",),
    ),
    Fault(
        "last-broker-may-leave",
        "event.kind == LEAVE and set(there) <= {event.node}:",
        "event.kind == LEAVE and not set(there):",
        ("test_watch_command",),
    ),
    Fault(
        "silent-topics-linked",
        'role if topic in spoken else "both"',
        "role",
        ("test_wishes",),
    ),
    # Logs and ingestion
    Fault(
        "sessions-outlive-broker",
        "    if persistence:\n        began",
        "    if True:\n        began",
        ("test_mosquitto_log",),
    ),
    Fault(
        "private-results",
        "_ORDINARY_FILE = 0o666",
        "_ORDINARY_FILE = 0o600",
        ("test_files",),
    ),
    Fault(
        "unknown-roles-pass",
        '"unknown role": bits == 0',
        '"unknown role": bits > 3',
        ("test_ingest_roles",),
        spark=True,
    ),
    Fault(
        "header-is-data",
        "rows.slice(names_filters + self.has_header)",
        "rows.slice(names_filters)",
        ("test_ingest",),
        spark=True,
    ),
)


def place(fault: Fault, root: Path) -> tuple[Path, list[Path]]:
    """The file that has the text of a fault, and the files of its tests; an error if either is not there once."""
    sources = [path for path in sorted((root / "src").rglob("*.py")) if fault.right in path.read_text()]
    if len(sources) != 1 or sources[0].read_text().count(fault.right) != 1:
        found = ", ".join(str(path.relative_to(root)) for path in sources) or "no file"
        raise LookupError(f"{fault.name}: its text must be in src once; it is in {found}")
    tests = []
    for name in fault.tests:
        found_tests = sorted((root / "tests").rglob(f"{name}.py"))
        if len(found_tests) != 1:
            raise LookupError(f"{fault.name}: tests has {len(found_tests)} files {name}.py; there must be one")
        tests += found_tests
    return sources[0], tests


def run_tests(root: Path, tests: list[Path], cache: Path, *, slow: bool) -> tuple[int, list[str], str]:
    """Run test files until one fails; give pytest's status, the tests that failed and the output."""
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "XDG_CACHE_HOME": str(cache)}
    # Without compiled modules every run would compile all of them again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    files = [str(path.relative_to(root)) for path in tests]
    marks = "not (broker or browser)" if slow else "not (broker or browser or slow)"
    options = ["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-m", marks]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) (?:[^\s:]*/)?(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return done.returncode, failed, done.stdout


def put_in(fault: Fault, root: Path, scratch: Path) -> list[str]:
    """Put a fault into the copy, run its tests, take it out again; give the tests that caught it."""
    source, tests = place(fault, root)
    text = source.read_text()
    is_compiled = any(word in text for word in DECORATORS)
    cache = scratch / ("cache-of-fault" if is_compiled else "cache")
    source.write_text(text.replace(fault.right, fault.wrong))
    try:
        status, failed, output = run_tests(root, tests, cache, slow=fault.slow)
    finally:
        source.write_text(text)
        shutil.rmtree(scratch / "cache-of-fault", ignore_errors=True)
    if status not in (0, 1) or (status == 1) != bool(failed):
        raise RuntimeError(f"{fault.name}: pytest ended with status {status}\n{output[-3000:]}")
    return failed


def check(chosen: list[Fault]) -> int:
    """Put in faults one after the other and print which tests catch them; 1 if one survives."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        scratch, root = Path(folder), Path(folder) / "tree"
        root.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, root / name)
        for slow in (False, True):
            tests = sorted({test for fault in chosen if fault.slow == slow for test in place(fault, root)[1]})
            status, failed, output = run_tests(root, tests, scratch / "cache", slow=slow) if tests else (0, [], "")
            if status:
                print(f"without faults these tests fail: {', '.join(failed)}\n{output[-3000:]}")
                return 2
        survived = 0
        for fault in chosen:
            began = time.perf_counter()
            caught = put_in(fault, root, scratch)
            survived += not caught
            seconds = time.perf_counter() - began
            print(f"{fault.name:<26} {seconds:5.1f} s  {caught[0] if caught else 'SURVIVED'}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} faults were caught")
    return 1 if survived else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES", help="names of faults, with commas between")
    parser.add_argument("--spark", action="store_true", help="also the faults that need Spark")
    parser.add_argument("--list", action="store_true", help="find the place of each fault, and run nothing")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else []
    if unknown := set(names) - {fault.name for fault in FAULTS}:
        parser.error(f"no fault is called {min(unknown)}; see --list")
    problems = []
    for fault in FAULTS:
        try:
            source, _ = place(fault, ROOT)
        except LookupError as error:
            problems.append(str(error))
        else:
            if given.list:
                print(f"{fault.name:<26} {source.relative_to(ROOT)}  {', '.join(fault.tests)}")
    if problems:
        print("\n".join(problems))
        return 2
    if given.list:
        return 0
    return check([fault for fault in FAULTS if fault.name in names or (not names and (given.spark or not fault.spark))])


if __name__ == "__main__":
    sys.exit(main())
