"""Commands that run on Spark.

- `evaluate`
- `ingest`
- `profile`
- `sample`
- `sweep`
"""
