"""A collection of instances with best known results, as solvers of route planning keep one.

- `catalogue`: the instances by name, each by a generator and seed, or by a recipe for real data.
- `records.json`: for each the size and fingerprint, the best known links and degree, a lower bound, and how they were
  found.
- `collection`: runs instances, compares with the records, renews these, and writes docs/instances.md.
"""
