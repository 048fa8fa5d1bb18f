"""Plans publish/subscribe networks: which links to build so that every topic is connected."""

from topicloom._version import __version__
from topicloom.model import InputError, Interest, Overlay, Provenance

__all__ = ["InputError", "Interest", "Overlay", "Provenance", "__version__"]
