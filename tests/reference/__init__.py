"""Slow twins of the fast kernels, and small random interests to compare them on.

A twin is written straight from its rule with plain sets and dicts, and shares no code with what it checks.
"""
