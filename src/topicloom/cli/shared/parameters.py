"""How parameters are spelt as options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

# Parameters whose names differ from those of their options.
_SPELT_OTHERWISE = re.compile(r"\b(max_edges|max_degree|budget_ratio|min_topics|max_topics|join_share|change_share)\b")


@contextmanager
def spelt_as_options() -> Iterator[None]:
    """Errors about parameters name them as a person at the command line must: --max-edges, not max_edges."""
    from topicloom.errors import InputError

    try:
        yield
    except InputError as error:
        raise InputError(_SPELT_OTHERWISE.sub(lambda name: option_name(name[0]), str(error))) from None


def option_name(parameter: str) -> str:
    """The option that gives a parameter."""
    return "--" + parameter.replace("_", "-")
