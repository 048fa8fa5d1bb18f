"""Where a result comes from, and how its file says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from topicloom._version import __version__
from topicloom.errors import InputError


@dataclass(frozen=True)
class Provenance:
    """The algorithm that made a result, its parameters, its seed and the version that ran it.

    `facts` are what the algorithm said about the result besides: what it proved, for example.
    """

    algorithm: str
    parameters: Mapping[str, int | float | bool | str] = field(default_factory=lambda: MappingProxyType({}))
    seed: int | None = None
    version: str = __version__
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def metadata(self, kind: str) -> dict[str, str]:
        """As texts for the metadata of a Parquet file; `kind` is what that file calls its algorithm."""
        texts = {
            kind: self.algorithm,
            "parameters": json.dumps(dict(self.parameters), sort_keys=True),
            "seed": json.dumps(self.seed),
            "version": self.version,
        }
        return texts | ({"facts": json.dumps(dict(self.facts), sort_keys=True)} if self.facts else {})

    @classmethod
    def from_metadata(cls, texts: Mapping[str, str], kind: str, where: str) -> Provenance | None:
        """What `metadata` said; None where a file does not say who made it."""
        if kind not in texts:
            return None
        try:
            parameters, facts = (dict(json.loads(texts.get(key, "{}"))) for key in ("parameters", "facts"))
            seed = json.loads(texts.get("seed", "null"))
        except (ValueError, TypeError):
            raise InputError(f"{where}: its metadata does not hold the parameters and seed of its {kind}") from None
        return cls(
            texts[kind], MappingProxyType(parameters), seed, texts.get("version", "unknown"), MappingProxyType(facts)
        )
