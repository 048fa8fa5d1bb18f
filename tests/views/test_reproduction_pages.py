"""Reproductions on the page, and those that cannot be shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages import Reader, page_of
from result_files import CLAIMS, FIGURES, SVG, claim, figure, write_reproduction, write_topics

from topicloom import InputError
from topicloom.views.page import find_files, read_results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_reproduction(tmp_path / "repro")


def rows_of(part: str) -> list[list[str]]:
    """The text of all cells of the first table in a part of a page."""
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    return [re.findall(r"<td.*?>(.*?)</td>", row) for row in body.split("</tr>")[:-1]]


def test_tells_all_claims_in_one_table(folder: Path) -> None:
    page = page_of(folder)
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert tiles == [("figures", "3"), ("claims", "7"), ("hold", "4"), ("do not hold", "2"), ("not measured", "1")]
    says, spread = CLAIMS[0]["says"], "times (1.7 to 1.8)"
    assert rows_of(page[page.index("All claims") :]) == [
        ["Low 2010", "figure 1; section V-A", says, "at most 1.8 times", f"1.75 {spread}", "✓ holds"],
        ["Low 2010", "figure 1; section V-A", says, "at most 1.8 times", "2.25 times", "✗ does not hold"],
        ["Low 2010", "figure 1; section V-A", says, "falls", "–", "– not measured"],
        ["GM 2007", "figure 3; section 6", says, "at most 1.8 times", f"123,457 {spread}", "✓ holds"],
        ["GM 2007", "figure 1; section V-A", says, "always", "96% of cases (80% to 100%)", "✗ does not hold"],
        ["GM 2007", "figure 1; section V-A", says, "25%", "6.52%", "✓ holds"],
        ["GM 2007", "section V-A", "About a table not here.", "at most 1.8 times", f"1.75 {spread}", "✓ holds"],
    ]


def test_papers_have_their_figures_in_order(folder: Path) -> None:
    page = page_of(folder)
    assert re.findall(r"<h([234])>(.*?)</h[234]>", page) == [
        ("2", "Reproduction: repro"),
        ("4", "All claims"),
        ("3", "Low 2010"),
        ("4", "Figure 1: average degree against nodes"),
        ("4", "Figure 2: average degree against nodes"),
        ("3", "GM 2007"),
        ("4", "Figure 3: average degree against nodes"),
        ("4", "Claims about figures that are not here"),
    ]
    first = page[page.index("Figure 1: ") : page.index("Figure 2: ")]
    assert [row[-2:] for row in rows_of(first)] == [
        ["✓ holds", ""],
        ["✗ does not hold", CLAIMS[1]["sentence"]],
        ["– not measured", ""],
    ]
    assert "From 75 runs, 5 for each setting." in first
    assert "From 75 runs, 5 for each setting; 2 failed." in page
    third = page[page.index("Figure 3: ") :]
    assert [row[2:] for row in rows_of(third)] == [["123,457 times (1.7 to 1.8)", "✓ holds"]], "nothing to explain"
    assert "About a table not here." in third[third.index("not here</h4>") :]


def test_pictures_are_images_with_a_text(folder: Path) -> None:
    images = [attributes for tag, attributes in Reader(page_of(folder)).elements if tag == "img"]
    assert [image["alt"] for image in images] == [
        f"Figure {number}. Three designers on fleets of 100 to 1,000 nodes. From 75 runs, 5 for each setting{failed}."
        for number, failed in ((1, ""), (2, "; 2 failed"), (3, ""))
    ]
    assert {image["src"] for image in images} == {
        f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"
    }


def test_says_whether_it_is_a_quick_one(folder: Path, tmp_path: Path) -> None:
    assert "from repro: a full one, made by topicloom 0.1.0." in page_of(folder)
    quick = write_reproduction(tmp_path / "quick", quick=True)
    assert "from quick: a quick one, of smaller sizes and fewer runs, made by" in page_of(quick)


def test_long_sentences_are_not_cut(tmp_path: Path) -> None:
    told = "because of this " * 20
    page = page_of(write_reproduction(tmp_path / "repro", claims=[claim(1, sentence=told)]))
    assert page.count(told) == 1
    assert "…" not in page


def test_without_figures_or_claims(tmp_path: Path) -> None:
    page = page_of(write_reproduction(tmp_path / "repro", [], []))
    assert Reader(page).count("table") == 0
    assert "<dt>claims</dt><dd>0</dd>" in page


def edited(file: str, edit: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        read = json.loads((folder / file).read_text(encoding="utf-8"))
        edit(read)
        (folder / file).write_text(json.dumps(read), encoding="utf-8")

    return apply


def in_claim(key: str, value: Any) -> Callable[[Path], None]:
    return edited("claims.json", lambda read: read["claims"][1].update({key: value}))


def in_figure(key: str, value: Any) -> Callable[[Path], None]:
    return edited("reproduction.json", lambda read: read["figures"][0].update({key: value}))


PICTURE = FIGURES[0]["picture"]
WRONG: list[tuple[Callable[[Path], Any], str]] = [
    (lambda f: (f / "claims.json").unlink(), "repro: has no claims.json"),
    (lambda f: (f / "claims.json").write_text("[1]"), "repro/claims.json: holds no JSON object"),
    (
        lambda f: (f / "claims.json").write_text("{} {}"),
        "repro/claims.json: cannot be read as JSON (trailing characters at line 1 column 4)",
    ),
    (
        edited("claims.json", lambda read: read.update(kind="other")),
        "repro/claims.json: 'kind' is \"other\"; it should be 'topicloom claims'",
    ),
    (edited("claims.json", lambda read: read.pop("claims")), "repro/claims.json: has no 'claims'"),
    (
        edited("claims.json", lambda read: read.update(claims=[1])),
        "repro/claims.json: 'claims', number 1 is 1; it should be an object",
    ),
    (
        edited("reproduction.json", lambda read: read.update(quick=None)),
        "repro/reproduction.json: 'quick' is null; it should be true or false",
    ),
    (
        edited("reproduction.json", lambda read: read.pop("version")),
        "repro/reproduction.json: has no 'version'",
    ),
    (in_claim("says", 7), "repro/claims.json: 'claims', number 2: 'says' is 7; it should be text"),
    (
        in_claim("number", "x" * 99),
        f"repro/claims.json: 'claims', number 2: 'number' is \"{'x' * 39}…; it should be a number",
    ),
    (
        in_claim("low", True),
        "repro/claims.json: 'claims', number 2: 'low' is true; it should be a number",
    ),
    (
        in_claim("high", float("nan")),
        "repro/claims.json: 'claims', number 2: 'high' is NaN; it should be a finite number",
    ),
    (
        in_claim("holds", 1),
        "repro/claims.json: 'claims', number 2: 'holds' is 1; it should be true or false",
    ),
    (
        in_figure("runs", -1),
        "repro/reproduction.json: 'figures', number 1: 'runs' is -1; it should be at least 0",
    ),
    (
        in_figure("failed", 1.5),
        "repro/reproduction.json: 'figures', number 1: 'failed' is 1.5; it should be a whole number",
    ),
    (in_figure("picture", "../secret.svg"), "repro: the picture '../secret.svg' is not the name of a file in it"),
    (in_figure("picture", "none.svg"), "repro: has no none.svg"),
    (lambda f: (f / PICTURE).write_text("<html/>"), f"repro/{PICTURE}: is not an SVG picture"),
    (
        lambda f: (f / PICTURE).write_text("<svg"),
        f"repro/{PICTURE}: cannot be read as SVG (unclosed token: line 1, column 0)",
    ),
]


@pytest.mark.parametrize(("spoil", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_said_in_one_line(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    spoil(folder)
    with pytest.raises(InputError) as caught:
        read_results(find_files([folder]))
    assert str(caught.value) == f"{tmp_path}/{message}"
    write_topics(tmp_path / "topics.parquet")
    results = read_results(find_files([tmp_path]))
    assert results.reproductions == ()
    (aside,) = results.aside
    assert aside.path == folder
    assert aside.reason == message.removeprefix("repro").removeprefix(": ").removeprefix("/")


def test_a_part_of_it_is_not_enough(folder: Path) -> None:
    for file in ("claims.json", "reproduction.json"):
        with pytest.raises(InputError) as caught:
            find_files([folder / file])
        assert str(caught.value) == (f"{folder / file}: is only a part of what {folder} holds; give that folder")


def test_figures_keep_what_they_are(tmp_path: Path) -> None:
    made = figure("A paper", 4, place="table 4")
    page = page_of(write_reproduction(tmp_path / "repro", [made], []))
    assert "<h4>Table 4: average degree against nodes</h4>" in page
