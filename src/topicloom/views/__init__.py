"""What people look at: pages, the explorer, pictures, notebooks.

- `view`: the contract of views, as plain data. `terminal`: views as text; `formats`: their data as JSON, CSV, Markdown.
  `designs`: views of designers, measures and bounds; `plans`, `bridges`, `collected`, `deliveries`: of
  fleets. `lint_formats`: findings as SARIF and for GitHub.
- `numbers`: numbers as text. `html`: tables and templates; `assets` holds templates, styles and scripts.
- `figures`, `overlay_picture`: static pictures. `interactive`, `network`: charts and networks to point at.
- `page`: one page of results found in files; `section` is what pages consist of. `overlays`, `runs`, `papers`: sections
  by kind of result. `drawing`, `answers`: overlays drawn, and what a click shows. `curves`: curves and counts.
- `explorer`: one session of the explorer; `pages` makes its pages, `network_views` and `run_views` what they show,
  `what_if`, `what_if_page` and `trade_off` its questions, `server` serves it, `watched_fleet` shows a running fleet.
- `static_page`: the same views in one file, and in notebooks.
- `status`: the status page of a watched fleet. `web_reply`: replies to a browser.
"""
