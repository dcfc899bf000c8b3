"""testwright: says how well a coding agent writes tests."""

__version__ = "0.1.0"
PROTOCOL_VERSION = 2
"""Raised whenever the same submission could get another verdict than before; part of a trial's identity."""
