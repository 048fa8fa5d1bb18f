"""What is sent to a browser: a page, a file, or where to go instead."""

from __future__ import annotations

from typing import NamedTuple

# A page may run its own scripts and ask its own server, and nothing and nobody else.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Reply(NamedTuple):
    """What is sent: its kind, and the bytes; `file` is what a browser saves it as, if it should.

    `to` is where a browser is sent instead. `policy` is what a page may do.
    """

    kind: str
    data: bytes
    file: str = ""
    to: str = ""
    policy: str = _POLICY

    @property
    def headers(self) -> dict[str, str]:
        """All that a browser is told beside the bytes."""
        told = {
            "Content-Type": self.kind if self.file else f"{self.kind}; charset=utf-8",
            "Content-Security-Policy": self.policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        if self.file:
            told["Content-Disposition"] = f'attachment; filename="{self.file}"'
        return told


def line_of(text: str) -> Reply:
    """A line of text, whatever it holds."""
    return Reply("text/plain", f"{text}\n".encode("utf-8", "replace"))
