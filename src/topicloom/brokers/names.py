"""Names of nodes as identifiers, and names in messages.

Node names appear in configurations and as file names only encoded, so that nothing in a name can end a line, leave a
folder or be taken for an option.
"""

from __future__ import annotations

import hashlib
import re

# A name that is kept short ends in this and a hash; no encoded name holds it.
_CUT = "~"
_LONGEST = 80
_KEPT = 60
_HASH_BYTES = 8

_SHOWN = 60


def identifier(name: str) -> str:
    """A name as ASCII letters, digits, `-`, `_` and `.`; everything else percent-encoded as UTF-8.

    It never begins with a dot or a hyphen. Past 80 characters it is cut and ends in `~` and a hash. Different names
    have different identifiers.
    """
    encoded = "".join(
        chr(byte) if re.match(rb"[A-Za-z0-9_]", bytes([byte])) or (chr(byte) in ".-" and i) else f"%{byte:02X}"
        for i, byte in enumerate(name.encode())
    )
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[:_KEPT]}{_CUT}{hashlib.blake2b(name.encode(), digest_size=_HASH_BYTES).hexdigest()}"


def quoted(name: str) -> str:
    """A name in quotes, cut where it is long."""
    return f"'{name}'" if len(name) <= _SHOWN else f"'{name[:_SHOWN]}…' ({len(name):,} characters)"
