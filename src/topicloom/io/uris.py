"""Files and folders of other file systems, by URIs that Arrow knows: s3://, gs://, abfss://, hdfs:// and file://."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.io.whole import scratch_folder

# A Path has one slash where the text that it was made of had two.
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
# Names that Hadoop has for file systems of Arrow.
_SCHEMES = {"s3a": "s3", "s3n": "s3"}


@contextmanager
def local_path(given: str | os.PathLike[str], parts: Sequence[str] = ()) -> Iterator[Path]:
    """Give a local path of what is at a path or URI; what is not on this machine is copied while the block runs.

    Args:
        given: the path or URI.
        parts: the folders in a folder to copy.
    """
    text = os.fspath(given)
    found = _URI.fullmatch(text)
    if found is None or Path(text).exists():
        yield Path(text)
        return
    from pyarrow.fs import FileSystem, LocalFileSystem

    scheme = _SCHEMES.get(found[1], found[1])
    uri = f"{scheme}://{'/' if scheme == 'file' else ''}{found[2]}"
    with scratch_folder("fetched") as folder:
        try:
            system, path = FileSystem.from_uri(uri)
            local = Path(path)
            if not isinstance(system, LocalFileSystem):
                local = _fetched(system, path, folder, parts)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{uri}: cannot be read ({' '.join(str(error).split())})") from None
        try:
            yield local
        except InputError as error:
            raise InputError(str(error).replace(str(local), uri), *error.parameters) from None


def _fetched(system: object, path: str, folder: Path, parts: Sequence[str]) -> Path:
    """Copy a file, or parts of a folder, to a local folder."""
    from pyarrow.fs import FileSystem, FileType, LocalFileSystem, copy_files

    assert isinstance(system, FileSystem)
    local = folder / (PurePosixPath(path).name or "root")
    is_folder = system.get_file_info(path).type == FileType.Directory
    if not is_folder:
        copy_files(path, str(local), system, LocalFileSystem())
        return local
    local.mkdir()
    for part in parts:
        if system.get_file_info(f"{path}/{part}").type == FileType.Directory:
            (local / part).mkdir()
            copy_files(f"{path}/{part}", str(local / part), system, LocalFileSystem())
    return local
