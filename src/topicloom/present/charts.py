"""Charts to point at, in one look: Bokeh figures with axes, whose text follows the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topicloom.present.network_figure import clear_background

# Letters of charts, as in pages.
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


def new_chart(x: str, y: str, *, told: Sequence[tuple[str, str]] = (), percent: bool = False) -> Any:
    """A figure with named axes; `told` is what pointing at something tells, as Bokeh writes it."""
    from bokeh.models import HoverTool, NumeralTickFormatter, TapTool
    from bokeh.plotting import figure

    made: Any = figure(
        sizing_mode="stretch_both", tools="pan,box_zoom,wheel_zoom,reset,save", toolbar_location="above", min_border=4
    )
    made.toolbar.logo = None
    clear_background(made)
    made.xaxis.axis_label, made.yaxis.axis_label = x, y
    for axis in made.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font = axis.major_label_text_font = _FONT
        axis.formatter = NumeralTickFormatter(format="0,0[.]00")
    if percent:
        made.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    if told:
        made.add_tools(HoverTool(tooltips=list(told)), TapTool())
    return made
