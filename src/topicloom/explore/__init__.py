"""The explorer: overlays, plans and results to look at and to ask, in a browser.

- `collection`: What is looked at: fleets with their overlays, plans, traces and papers.
- `node_places`: Where nodes are on the earth.
- `explorer`: One session of looking: what there is, and what was worked out of it so far.
- `pages`: The pages: a frame with all views, and one of them inside. `view_assets`: their scripts and style.
- `views`: What is shown of each kind of thing.
- `asking`: Questions that take work, and their answers: what if, and what designers trade for what.
- `answering`: What is answered to each request. `request_guard`: which requests are answered.
- `server`: The explorer over HTTP, on loopback alone. `watched_fleet`: its pages where a controller listens.
- `static_page`: The same views in one file, as far as they need no server. `notebook`: a network inside a notebook.
"""
