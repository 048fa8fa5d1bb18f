"""Designing on Spark, for fleets that one machine does not hold.

- `design_on_spark`: A backbone of the subscriptions of an ingest folder, the same as on one machine.
- `spark_fleet`: What a backbone needs to know of the nodes, from tables on Spark.
- `written_design`: Writing it, as a file or as a folder of parts.
"""
