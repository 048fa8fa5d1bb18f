"""Being here puts tests/ on the import path, so that tests can say `from reference.interests import ...`."""

from __future__ import annotations

import pytest
from hypothesis import settings

# The same examples in every run, and no clock: the first example of a kernel may include its compilation.
settings.register_profile("topicloom", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("topicloom")

# These look at all brokers that run on the machine, so no two of them may run at once.
WITH_BROKERS = ("deploy", "test_broker_commands.py")


@pytest.hookimpl(tryfirst=True)  # before groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run side by side, those of a file stay together, as they share fixtures that take long to make."""
    for item in items:
        brokers = any(name in item.path.parts for name in WITH_BROKERS)
        item.add_marker(pytest.mark.xdist_group("brokers" if brokers else str(item.path)))
