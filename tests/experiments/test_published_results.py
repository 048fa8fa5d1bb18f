"""What docs/ tell of the full reproduction is about the figures and claims that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from made_up import FIGURES

DOCS = Path(__file__).parents[2] / "docs"
DIFFERS = {claim.id: claim.differs for figure in FIGURES.values() for claim in figure.claims}
PUBLISHED = json.loads((DOCS / "claims.json").read_text(encoding="utf-8"))


def test_claims_are_those_of_the_figures() -> None:
    told = ("id", "says", "rule", "published", "unit", "place")
    claims = {claim["id"]: [claim[name] for name in told] for claim in PUBLISHED["claims"]}
    assert claims == {
        claim.id: [getattr(claim, name) for name in told] for figure in FIGURES.values() for claim in figure.claims
    }
    assert not PUBLISHED["quick"]


def test_every_claim_was_measured_and_says_why_where_it_does_not_hold() -> None:
    for claim in PUBLISHED["claims"]:
        assert claim["holds"] is not None, claim["id"]
        assert (claim["sentence"] == "") is claim["holds"], claim["id"]
        assert claim["sentence"] in ("", DIFFERS[claim["id"]]), claim["id"]


def test_the_page_shows_every_picture_and_counts_the_claims() -> None:
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\(results/(.*)\.svg\)", page)
    assert pictures == list(FIGURES)
    assert all((DOCS / "results" / f"{name}.svg").is_file() for name in pictures)
    holds = [claim["holds"] for claim in PUBLISHED["claims"]]
    assert f"Of {len(holds)} claims {sum(holds)} hold, {len(holds) - sum(holds)} do not, 0 were not measured." in page
