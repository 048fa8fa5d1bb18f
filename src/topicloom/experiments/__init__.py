"""The papers' figures and tables, made again.

Each figure or table is one TOML file in the folder of its paper: workloads, what is tried on them, what is drawn, and
what the paper says about it. docs/reproduce.md tells the format, docs/results.md what came out.

- `figure`: the file, read. `catalogue`: all of them.
- `runs`: the functions that a file may name.
- `graph_samples`: social graphs to run on.
- `figure_grid`: figures as a grid: their cells, running what is left of them, and the rows that came out.
- `queries`: SQL over the rows that runs gave. `claims`: what a paper says, held against them. `verdict`: what came out.
- `drawing`: the picture.
- `reproduction_folder`: what is written: data, pictures, and the two files of `reproduction_index`, which tell what is
  there. `results_page`: all of it as Markdown.
"""
