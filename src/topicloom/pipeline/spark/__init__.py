"""The Spark session: started in one place, quiet, stopped at the end.

- `class_archive`: Spark's Java classes kept in one file, from which Java starts faster.
- `jvm`: Starting Java for Spark, and saying in one line why it does not start.
- `session`: One Spark session for a run: local unless told otherwise, quiet, and stopped at the end.
- `settings`: Which master a session uses, and the configuration it starts with.
"""
