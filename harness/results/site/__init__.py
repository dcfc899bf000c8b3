"""Runs as static pages: `testwright report --site`, `testwright view`."""
