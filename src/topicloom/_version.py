"""The version, kept apart so that building a package need not import one."""

__version__ = "0.2.0"
