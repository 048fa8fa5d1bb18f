"""Questions that take work, and their answers.

- `background_work`: Work that may take long: done in a thread, asked how far it is, stopped.
- `questions`: How each question begins, and how far it is.
- `what_if`: What if brokers fail, links are forbidden, brokers come: what comes of it.
- `what_if_form`: The form of the what-if view, and the question that a filled one asks.
- `what_if_answer`: What comes of a what-if question, as the view shows it, and the files to take away.
- `before_and_after`: Two pictures of an overlay, before and after something changed.
- `trade_off`: All designers on the same subscriptions.
- `trade_off_answer`: What the designers come to, as points to choose from.
"""
