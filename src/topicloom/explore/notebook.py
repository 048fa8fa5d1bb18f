"""A network inside a notebook: the view of an overlay, with all its answers, in a frame of its own."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from topicloom.explore.static_page import whole_page
from topicloom.explore.views.network_view import drawing_html
from topicloom.metrics import measure
from topicloom.model import Overlay
from topicloom.present.network_layout import require_explorer
from topicloom.report.networks.overlay_drawing import SeenOverlay

_HEIGHT = 760


@dataclass(frozen=True)
class NetworkView:
    """A page of one network, which notebooks show."""

    html: str

    def _repr_html_(self) -> str:
        # A frame keeps scripts and style of the page apart from those of the notebook.
        return (
            f'<iframe style="width: 100%; height: {_HEIGHT}px; border: 0" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def overlay_view(overlay: Overlay) -> NetworkView:
    """The view of an overlay; it holds everything that it needs."""
    require_explorer()
    drawing = SeenOverlay(overlay).whole
    return NetworkView(whole_page(drawing_html(drawing, measure(overlay.interest, overlay)), repr(overlay)[1:-1]))
