"""The exception for a broker that does not tell what it is asked."""

from __future__ import annotations


class SourceError(Exception):
    """One broker cannot be asked, or answers what cannot be used; the message is one line. Others may go on."""
