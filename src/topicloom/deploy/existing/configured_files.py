"""Which files a fleet's configurations are, and whose each of them is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from topicloom.errors import InputError


def configured_files(path: Path, ending: str, main: str) -> Iterator[tuple[str, Path]]:
    """Names of brokers and their files.

    A file is a broker of that name. A folder with a file called `main` is one broker of the folder's name; in any other
    folder every file with the ending and every folder with such a file is one.
    """
    if path.is_file():
        yield (path.absolute().parent.name if path.name == main else path.stem), path
    elif (path / main).is_file():
        yield path.absolute().name, path / main
    elif path.is_dir():
        for entry in sorted(path.iterdir()):
            if entry.suffix == ending and entry.is_file():
                yield entry.stem, entry
            elif (entry / main).is_file():
                yield entry.name, entry / main
    else:
        raise InputError(f"{path}: no such file or folder")
