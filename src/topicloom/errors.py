"""The exception for wrong input."""

from __future__ import annotations


class InputError(ValueError):
    """What the user gave cannot be used; the message says what, where, and what would be right.

    The message is one line. The command line prints it and exits with status 2.
    """
