"""Files and folders by URI, also from an object store, as small as one can be."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from reference.folders import write_folder
from topicloom import InputError, Interest, Overlay, design

INTEREST = Interest.from_pairs([("a", "x"), ("b", "x"), ("ö", "y"), ("b", "y")])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An object store with what is in `tmp_path`; what URIs of it end in."""

    class Store(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            url = urlsplit(self.path)
            asked, (_, _, *key) = parse_qs(url.query), unquote(url.path).split("/", 2)
            file = tmp_path / "/".join(key)
            if "list-type" in asked:
                prefix = asked.get("prefix", [""])[0]
                found = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
                keys = [name for path in found if (name := str(path.relative_to(tmp_path))).startswith(prefix)]
                listed = "".join(f"<Contents><Key>{name}</Key><Size>1</Size></Contents>" for name in keys)
                body = f"<ListBucketResult><KeyCount>{len(keys)}</KeyCount>{listed}</ListBucketResult>".encode()
            elif not file.is_file():
                self.send_response(404)
                self.end_headers()
                return
            else:
                body = file.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"?scheme=http&endpoint_override=127.0.0.1:{server.server_port}&region=eu"
    server.shutdown()
    server.server_close()


def test_an_object_store(store: str, tmp_path: Path) -> None:
    write_folder(INTEREST, tmp_path / "fleet")
    INTEREST.write(tmp_path / "subs.parquet")
    overlay = design(INTEREST, "gm")
    overlay.write(tmp_path / "overlay.parquet")
    assert Interest.read(f"s3://bucket/fleet{store}") == INTEREST
    assert Interest.read(f"s3a://bucket/subs.parquet{store}") == INTEREST
    assert Overlay.read(f"s3://bucket/overlay.parquet{store}", INTEREST) == overlay
    for file in (tmp_path / "fleet" / "topics").iterdir():
        file.unlink()
    with pytest.raises(InputError, match=r"^s3://bucket/fleet\?[^ ]*: is not a folder .* it has no topics/$"):
        Interest.read(f"s3://bucket/fleet{store}")
    with pytest.raises(InputError, match=r"^s3://bucket/none\.csv\?.*: cannot be read \("):
        Interest.read(f"s3://bucket/none.csv{store}")


def test_files_of_this_machine(tmp_path: Path) -> None:
    write_folder(INTEREST, tmp_path / "ö")
    (tmp_path / "subs.csv").write_text("node,topic\na,\n")
    assert Interest.read((tmp_path / "ö").as_uri()) == INTEREST
    # A path that was made of it has one slash less.
    assert Interest.read(Path((tmp_path / "ö").as_uri())) == INTEREST
    with pytest.raises(InputError, match=r"subs\.csv: row 1: empty name in column 'topic'"):
        Interest.read((tmp_path / "subs.csv").as_uri())
