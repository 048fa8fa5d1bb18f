"""The papers' figures and tables, reproduced.

Each figure or table is one TOML file in the folder of its paper: workloads, algorithms, what is drawn, and what the
paper says about it. docs/reproduce.md describes the format, docs/results.md the outcome.

- `figure`: the file, read. `catalogue`: all of them. `runs`: the functions that a file may name.
- `graph_samples`: social graphs to run on. `figure_grid`: figures as a grid of cells.
- `queries`: SQL over the rows that runs gave. `claims`: claims of a paper held against them.
- `drawing`: the picture. `reproduction_folder`, `reproduction_index`: what is written. `results_page`: the same as
  Markdown.
"""
