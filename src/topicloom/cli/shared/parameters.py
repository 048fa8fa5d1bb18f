"""How parameters are spelt as options."""

from __future__ import annotations


def option_name(parameter: str) -> str:
    """The option that gives a parameter."""
    return "--" + parameter.replace("_", "-")
