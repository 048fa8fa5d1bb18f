"""The engine of grids: many runs, each a Spark task, whose rows are kept as soon as they are there.

- `cell`: One run of a grid, and keeping the rows that it gave.
- `grid`: What is left to do of a grid, and its results as one table.
- `jobs`: Running what is left, each cell a Spark job of one task.
- `grid_watch`: Seeing how far a grid is, and stopping it.
"""
