"""The explorer: overlays, plans and results to look at and to ask, in a browser.

- `collection`: What is looked at: fleets with their overlays, plans, traces and papers.
- `explorer`: One session of looking: what there is, and what was worked out of it so far.
- `server`: The explorer over HTTP, on loopback alone. `request_guard`: which requests are answered.
- `pages`: The pages: a frame with all views, and one of them inside. `view_assets`: their scripts and style.
- `questions`: Questions that take work. `background_work`: work that may take long, done in a thread.
- `network_view`: The view of a network.
- `what_if`: What if brokers fail, links are forbidden, brokers come: what comes of it. `what_if_form`: how it is asked.
  `what_if_answer`: how it is told. `before_and_after`: two pictures of it.
"""
