"""How fast and how large: run with `./dev bench`.

- `yardsticks`: what times are compared with: the counting pass that nothing can beat, and textbook Greedy Merge.
- `alone`: running one measurement in a process of its own, so that its peak memory is its own.
- `designs`: every designer on the papers' workloads, and how time grows with the nodes.
- `backbone`: the backbone designer beside gm and low-oda, its growth to a million nodes, and on Spark.
- `measures`: measuring overlays, with and without diameters.
- `real_data`: the sparse interests of the data sets beside the checkout.
- `ingest`: raw rows to the finished folder on Spark, against DuckDB with two threads.
- `evaluate`: measuring an overlay of a million nodes on Spark.
- `churn`: events of a living overlay against one low-oda build, and the findings of Shadows.
- `long_run`: 10,000 events of a fleet under control, and how far it is from a fresh design then.
- `brokers`: routing topics over large overlays, and proofs with real brokers, among them the next two.
- `watched_fleet`: 30 brokers under control while things happen to them.
- `apply_kills`: `apply` killed at random moments.
- `local_fleet`: real Mosquittos on loopback, for these.
- `content`: assignment algorithms on generated content-based networks, and how time grows with the users.
- `content_findings`: the Content paper's figures 9 and 10 and its claims, on our networks; run it by itself with
  `python -m benchmarks.content_findings`, as it takes a quarter of an hour.
- `short_forms`, `check`: a short form of each as ratios, against those of `baseline.json`: `./dev bench --check`.
- `pairs`, `pair_cases`: two trees side by side, case by case: `python -m benchmarks.pairs OLD_TREE NEW_TREE`.
- `memory`: the memory that a benchmark takes with all processes that it starts.

Everything is compiled before it is timed. Machines are noisy: each table is one run, and what counts in it are
the ratios.
"""
