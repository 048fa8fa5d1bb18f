"""`./dev campaign`: hostile input, kills, faults, lost executors and a simulated fleet, for as long as one likes.

- `valid_files`: Small valid files of every format, from a seed.
- `mutations`: Valid files made invalid, each in its own way: bytes, lines, JSON, TOML, tables, folders.
- `command_lines`: Command lines of every command, on files that are valid but for one.
- `turns`: The parts of a campaign, and one turn of each.
- `ledger`: What was tried and what failed, counted and printed.
- `inside`: Commands run inside this process.
- `forked`: Commands run in copies of this process.
- `outside`: Commands run as processes of their own, with limits, and killed.
- `fuzzing`: Command lines on damaged files, and with odd values of options.
- `killing`: Every command that writes, killed at a random moment, and run again.
- `faults`: A full disk, little memory, no home, closed streams, folders without rights, two runs at once.
- `executors`: Spark's executors killed in the middle of a job.
- `simulated_fleet`: Brokers, links and messages on virtual time.
- `simulation`: The controller, plan changes and the maintainer on a simulated fleet.
"""
