"""Asking a broker's HTTP interface for JSON: with a time limit, a limit of size, and errors that show no secret."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from typing import Any

from topicloom.brokers.fleet_file import secret_of
from topicloom.brokers.rows import SourceError
from topicloom.errors import InputError
from topicloom.model.fleet import Source

LARGEST_BYTES = 64_000_000
_PIECE_BYTES = 1 << 16


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A login is for the place that a person named, and nobody else."""

    def redirect_request(self, *_given: Any) -> None:
        return None


class Asking:
    """Asks one broker's interface."""

    def __init__(self, source: Source, broker: str) -> None:
        self._url = source.places[0]
        self._timeout = source.timeout_seconds
        self._headers = {"Accept": "application/json"}
        if source.credentials is not None:
            password = secret_of(source.credentials, f"broker '{broker}': the password")
            login = base64.b64encode(f"{source.credentials.username}:{password}".encode())
            self._headers["Authorization"] = f"Basic {login.decode()}"
        try:
            context = ssl.create_default_context(cafile=source.ca_file)
        except OSError as error:
            raise InputError(
                f"broker '{broker}': ca_file {source.ca_file} cannot be read ({error.strerror or error})"
            ) from None
        # Without the proxies of the environment: brokers are asked directly.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _NoRedirect, urllib.request.HTTPSHandler(context=context)
        )

    def get(self, path: str) -> Any:
        """What the interface answers at a path."""
        try:
            return json.loads(self._read(path))
        except (ValueError, RecursionError):
            raise SourceError(f"{self._url}/{_plain(path)} does not answer with JSON") from None

    def objects(self, path: str) -> list[dict[str, Any]]:
        """The answer at a path, which must be a list of objects."""
        return list_of_objects(self.get(path), f"{self._url}/{_plain(path)}")

    def object(self, path: str) -> dict[str, Any]:
        """The answer at a path, which must be an object."""
        answer = self.get(path)
        if not isinstance(answer, dict):
            raise SourceError(f"{self._url}/{_plain(path)} does not answer with a JSON object")
        return answer

    def _read(self, path: str) -> bytes:
        where = f"{self._url}/{_plain(path)}"
        deadline = time.monotonic() + self._timeout
        pieces, size = [], 0
        try:
            request = urllib.request.Request(f"{self._url}/{path}", headers=self._headers)
            with self._opener.open(request, timeout=self._timeout) as answer:
                while piece := answer.read1(_PIECE_BYTES):
                    pieces.append(piece)
                    size += len(piece)
                    if size > LARGEST_BYTES:
                        raise SourceError(f"{where} answers with more than {LARGEST_BYTES // 1_000_000} MB")
                    if time.monotonic() > deadline:
                        raise TimeoutError
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (401, 403):
                raise SourceError(f"{where} does not accept the login ({error.code}); look at credentials") from None
            raise SourceError(f"{where} answers with status {error.code}") from None
        except TimeoutError:
            raise SourceError(f"{where} does not answer within {self._timeout:g} s") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise SourceError(f"{where} does not answer within {self._timeout:g} s") from None
            told = getattr(reason, "strerror", None) or type(reason).__name__
            raise SourceError(f"{where} does not answer ({told})") from None
        return b"".join(pieces)


def list_of_objects(answer: Any, where: str) -> list[dict[str, Any]]:
    """The answer itself, if it is a list of objects."""
    if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
        raise SourceError(f"{where} does not answer with a list of JSON objects")
    return answer


def _plain(path: str) -> str:
    return path.partition("?")[0]
