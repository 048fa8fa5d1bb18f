"""Fleets that run: brought from one plan to another, and kept there.

- `applying`: a running fleet changed step by step, with a way on and a way back.
- `drivers`: how a file gets to a broker.
- `watching`: a fleet followed: events mended, planned and applied.
- `durable_log`: a log that survives its process.
"""
