"""How results look, for people: numbers, HTML, pictures. The command line, pages and notebooks share it.

- `charts`: Charts to point at, in one look.
- `figures`: Figures in one look, and files of them that are the same bytes for the same figure.
- `html`: Tables as HTML, for notebooks and pages.
- `interactive`: Bokeh figures inside HTML, and the scripts that draw them and answer clicks.
- `label_places`: Names beside points, as many as fit without covering one another.
- `network_figure`: A network to point at: nodes and links as a Bokeh figure.
- `network_layout`: Where to draw the nodes of a network, and which of them belong together.
- `numbers`: Numbers as people read them, in terminals and on pages; each with the value to sort by.
- `web_reply`: What is sent to a browser: a page, a file, or where to go instead.
"""
