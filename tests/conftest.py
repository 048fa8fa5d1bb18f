"""Being here puts tests/ on the import path, so that tests can say `from reference.interests import ...`."""

from __future__ import annotations

from hypothesis import settings

# The same examples in every run, and no clock: the first example of a kernel may include its compilation.
settings.register_profile("topicloom", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("topicloom")
