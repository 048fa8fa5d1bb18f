"""Grids that users describe: what their cells are, what a cell runs, and the table that comes of it.

- `designer_sweep`: Workloads, designers, parameters and seeds.
- `sweep_spec`: What such a sweep runs: reading its TOML file.
- `sweep_table`: Its results as one table, written and read.
- `content_sweep`: Algorithms on many generated content-based networks: figures 9 and 10 of the Content paper.
"""
