"""What a cell of a figure runs: one function a kind, and their registry.

- `backup_runs`: Backups as they are chosen at first, a row for each node: Shadows, figures 2 and 3.
- `ccdf_runs`: How many topics nodes have and how many nodes topics have, as complementary cumulative distributions.
- `churn_runs`: Overlays under churn, a row for each event: Shadows, figures 4 to 8.
- `content_runs`: What an algorithm makes a content-based network cost: Content, figures 9 and 10 and table I.
- `design_runs`: Designs: an overlay built and measured.
- `registry`: The functions that a figure's file may name, and the interests that they run on.
- `step_runs`: How many steps `gm` takes as its paper lists it: GM 2007, figure 3.
"""
