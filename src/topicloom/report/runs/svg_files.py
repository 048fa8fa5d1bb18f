"""Pictures from SVG files."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from topicloom.errors import InputError

_ROOT = "{http://www.w3.org/2000/svg}svg"


def read_svg(folder: Path, name: str) -> bytes:
    """The bytes of a picture that lies in a folder."""
    file = folder / name
    if Path(name).name != name:
        raise InputError(f"{folder}: the picture '{name}' is not the name of a file in it")
    if not file.is_file():
        raise InputError(f"{folder}: has no {name}")
    try:
        svg = file.read_bytes()
        root = ElementTree.fromstring(svg).tag
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{file}: cannot be read as SVG ({' '.join(str(error).split())})") from None
    if root != _ROOT:
        raise InputError(f"{file}: is not an SVG picture")
    return svg
