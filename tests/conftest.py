"""Being here puts tests/ on the import path, so that tests can say `from reference.interests import ...`."""
