"""What is planned: interests and overlays, and reading and writing them.

- `interest`: who wants what, immutable, in both directions.
- `overlay`: the links of a plan in the order they were added, with their provenance.
- `events`: what happens to a fleet, as JSON Lines.
- `names`: dense ids from names, in code-point order.
- `tables`: subscriptions and links from Parquet, CSV and TSV files, with errors a person can act on.
- `columns`: columns of names and numbers, checked.
- `folder`: subscriptions from a folder that `topicloom ingest` wrote.
- `fingerprint`: one number for a set of subscriptions, whatever the order of its rows.
- `files`: writing that leaves either the whole file or nothing.
- `figures`: the look of everything that is drawn. `pictures`: an overlay's picture.
- `html`: tables for notebooks and pages. `numbers`: numbers in them as people read them.
- `verdict`: what became of a paper's claim.
- `errors`: the one exception that means "your input, not our bug".
"""

from topicloom.model.errors import InputError
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay, Provenance

__all__ = ["InputError", "Interest", "Overlay", "Provenance"]
