"""Kinds of brokers, one module for each."""
