"""Reading the file of a sweep: the cells it means, and one line for what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from topicloom import InputError, Interest
from topicloom.spark.sweep import plan_sweep
from topicloom.spark.sweep_spec import SweepRow, read_spec

WORKLOAD = "[[workload]]\nnodes = 20\ntopics = 8\nmin_topics = 2\n"
DESIGNER = '[[designer]]\nname = "gm"\n'


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    def read(text: str) -> tuple[SweepRow, ...]:
        path = tmp_path / "spec.toml"
        path.write_text(text)
        return read_spec(path).rows

    return read


def test_lists_mean_all_combinations_in_order(rows: Any) -> None:
    found = rows(
        """
        [[workload]]
        popularity = ["zipf", "uniform"]
        min_topics = 2
        nodes = [30, 20]
        topics = 8
        [[designer]]
        name = ["gm", "low-oda"]
        [[designer]]
        max_degree = [3, 2]
        name = "gpm"
        """
    )
    shapes = [(dict(c.workload.synthetic)["nodes"], dict(c.workload.synthetic)["popularity"]) for c in found[::4]]
    assert shapes == [(30, "zipf"), (30, "uniform"), (20, "zipf"), (20, "uniform")]
    assert [(c.designer, dict(c.parameters)) for c in found[:4]] == [
        ("gm", {}),
        ("low-oda", {"k": 3.0, "strict": False}),
        ("gpm", {"max_degree": 3, "matching": "useful"}),
        ("gpm", {"max_degree": 2, "matching": "useful"}),
    ]
    assert len(found) == 16


def test_a_seed_is_a_repetition(rows: Any) -> None:
    found = rows(f'seed = [5, 6]\n{WORKLOAD}[[designer]]\nname = "random-m"\nmax_degree = 3\n{DESIGNER}')
    seeds = [(c.designer, dict(c.workload.synthetic)["seed"], c.seed) for c in found]
    assert seeds == [("random-m", 5, 5), ("gm", 5, None), ("random-m", 6, 6), ("gm", 6, None)]


def test_own_seeds_go_before_the_common_ones(rows: Any) -> None:
    found = rows(f'seed = [5, 6]\n{WORKLOAD}seed = 1\n{DESIGNER}[[designer]]\nname = "random-a"\nmax_edges = 9\n')
    assert [(c.designer, dict(c.workload.synthetic)["seed"], c.seed) for c in found] == [
        ("gm", 1, None),
        ("random-a", 1, 5),
        ("random-a", 1, 6),
    ]
    found = rows(f'seed = [5, 6]\n{WORKLOAD}[[designer]]\nname = "random-a"\nmax_edges = 9\nseed = [1, 2]\n')
    assert [(dict(c.workload.synthetic)["seed"], c.seed) for c in found] == [(5, 1), (5, 2), (6, 1), (6, 2)]


def test_what_makes_no_difference_makes_no_cell(rows: Any) -> None:
    text = f'{WORKLOAD}popularity = ["uniform", "zipf"]\nalpha = [0.5, 2.0]\n{DESIGNER}'
    assert [dict(c.workload.synthetic).get("alpha") for c in rows(text)] == [None, 0.5, 2.0]


def test_files_are_beside_the_spec_and_need_no_seed(rows: Any, tmp_path: Path) -> None:
    Interest.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "subs.parquet")
    (row,) = rows(f'seed = [1, 2]\n[[workload]]\nfile = "subs.parquet"\n{DESIGNER}')
    assert (row.workload.name, row.workload.path, row.seed) == ("subs.parquet", tmp_path / "subs.parquet", None)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("seed = x\n", "is not TOML: invalid value (at line 1, column 8)"),
        ("", "has no workload; add a table that begins with [[workload]]"),
        (WORKLOAD, 'has no designer; add a table that begins with [[designer]], for instance name = "gm"'),
        (f"seeds = 3\n{WORKLOAD}{DESIGNER}", "unknown key 'seeds'; known are workload, designer, seed, diameters"),
        (f'seed = "x"\n{WORKLOAD}{DESIGNER}', "seed is 'x'; give a whole number, or a list of such"),
        (f"seed = -1\n{WORKLOAD}{DESIGNER}", "seed is -1; give a whole number, 0 or more"),
        (f"seed = {2**63}\n{WORKLOAD}{DESIGNER}", f"seed is {2**63}; give a whole number of at most {2**63 - 1}"),
        (f"seed = []\n{WORKLOAD}{DESIGNER}", "seed is an empty list; give at least one value"),
        (f"diameters = 1\n{WORKLOAD}{DESIGNER}", "diameters is 1; give true or false"),
        (f"workload = 3\n{DESIGNER}", "workload is no list of tables; begin each with a line [[workload]]"),
        (f"[workload]\nnodes = 3\n{DESIGNER}", "workload is no list of tables"),
        (f"{DESIGNER}{WORKLOAD}node = 3\n", "workload 1 (line 3): unknown key 'node'; known are name, nodes, topics"),
        (f"{DESIGNER}[[workload]]\nnodes = 3\n", "workload 1 (line 3): topics is missing; a workload has nodes"),
        (f'{WORKLOAD}alpha = "x"\n{DESIGNER}', "workload 1 (line 1): alpha is 'x'; give a number, or a list of such"),
        (f"{WORKLOAD}sizes = true\n{DESIGNER}", "workload 1 (line 1): sizes is true; give text in quotes"),
        (f"{WORKLOAD}name = 3\n{DESIGNER}", "workload 1 (line 1): name is 3; give text in quotes"),
        (f'{WORKLOAD}popularity = "pareto"\n{DESIGNER}', "workload 1 (line 1): popularity 'pareto' is unknown; known"),
        (f'{WORKLOAD}sizes = "uniform"\n{DESIGNER}', "workload 1 (line 1): sizes 'uniform' needs max_topics"),
        (WORKLOAD.replace("20", "[20, 0]") + DESIGNER, "workload 1 (line 1): nodes is 0; give a whole number of"),
        (WORKLOAD.replace("20", "2.5") + DESIGNER, "workload 1 (line 1): nodes is 2.5; give a whole number, or a list"),
        (WORKLOAD.replace("= 2\n", "= [2, 9]\n") + DESIGNER, "workload 1 (line 1): min_topics is 9; give"),
        (f"{WORKLOAD}seed = {10**30}\n{DESIGNER}", f"workload 1 (line 1): seed is {10**30}; give a whole number of"),
        (WORKLOAD.replace("20", str(10**20)) + DESIGNER, f"workload 1 (line 1): nodes is {10**20}; give a whole"),
        (f'[[workload]]\nfile = "none.csv"\n{DESIGNER}', "workload 1 (line 1): file 'none.csv': there is no "),
        (
            f'[[workload]]\nfile = "a"\nnodes = 3\n{DESIGNER}',
            "workload 1 (line 1): unknown key 'nodes'; known are name",
        ),
        (f"{WORKLOAD}[[designer]]\nk = 3\n", "designer 1 (line 5): name is missing; give one of those"),
        (
            f'{WORKLOAD}{DESIGNER}[[designer]]\nname = "gmm"\n',
            "designer 2 (line 7): unknown algorithm 'gmm'; known are",
        ),
        (f"{WORKLOAD}{DESIGNER}k = 3\n", "designer 1 (line 5): gm does not take k; it takes ties"),
        (f'{WORKLOAD}[[designer]]\nname = "gpm"\n', "designer 1 (line 5): gpm needs max_degree or budget_ratio"),
        (
            f'{WORKLOAD}[[designer]]\nname = "gpm"\nmax_degree = [3, 0]\n',
            "designer 1 (line 5): max_degree of gpm must be a whole number, 1 or more, not 0",
        ),
        (
            f'{WORKLOAD}[[designer]]\nname = "gpm"\nmax_degree = {10**20}\n',
            f"designer 1 (line 5): max_degree is {10**20}; give a whole number of at most",
        ),
        (
            f'{WORKLOAD}[[designer]]\nname = "gpm"\nmax_degree = "3"\n',
            "designer 1 (line 5): max_degree is '3'; give a number",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(rows: Any, tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(InputError) as refusal:
        rows(text)
    message = str(refusal.value)
    assert message.startswith(f"{tmp_path / 'spec.toml'}: {wrong}")
    assert "\n" not in message


def test_filters_of_a_file(rows: Any, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\na,t/#\nb,t/1\n")
    spec = '[[workload]]\nfile = "subs.csv"\n'
    for said, topics in (('filters = "mqtt"\n', 1), ('filters = "none"\n', 2)):
        rows(spec + said + DESIGNER)
        planned = plan_sweep(read_spec(tmp_path / "spec.toml"))
        ((fingerprint, found),) = planned.interests.items()
        assert fingerprint == found.fingerprint
        assert found.topic_count == topics
    rows(spec + DESIGNER)
    with pytest.raises(InputError, match=r"topic 't/#' has a wildcard of mqtt; give filters mqtt, or filters none"):
        plan_sweep(read_spec(tmp_path / "spec.toml"))


NETWORK = "[[network]]\nusers = 20\nusers_per_broker = 5\nchannels = 4\n"
ALGORITHM = '[[algorithm]]\nname = ["random", "packing"]\n'


def test_networks_and_algorithms(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text("seed = [2, 1]\n" + NETWORK + ALGORITHM)
    found = read_spec(tmp_path / "spec.toml")
    assert found.rows == ()
    rows = [(dict(row.network)["seed"], row.algorithm, row.routing) for row in found.networks]
    assert rows == [(seed, name, "shared") for seed in (1, 2) for name in ("random", "packing")]
    assert dict(found.networks[0].network) == {
        "users": 20,
        "brokers": 4,
        "channels": 4,
        "access_to_core": 1.0,
        "width": None,
        "prices": "plane",
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (NETWORK + '[[algorithm]]\nname = "best"\n', "algorithm 1 (line 5): unknown algorithm 'best'"),
        (NETWORK, "has no algorithm; add a table that begins with [[algorithm]]"),
        (NETWORK + "x = 1\n" + ALGORITHM, "network 1 (line 1): unknown key 'x'; known are users, "),
        (NETWORK.replace("channels = 4", "") + ALGORITHM, "network 1 (line 1): channels is missing"),
        (NETWORK.replace("20", str(2**63)) + ALGORITHM, f"network 1 (line 1): users is {2**63}; give a whole number"),
        (NETWORK + ALGORITHM + 'routing = "best"\n', "algorithm 1 (line 5): routing 'best' is unknown; known are "),
        (DESIGNER + NETWORK + ALGORITHM, "unknown key 'designer'; known are network, algorithm, seed"),
    ],
)
def test_wrong_networks(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_spec(path)
    assert str(error.value).startswith(f"{path}: {wrong}")
