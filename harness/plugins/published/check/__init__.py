"""Looks in one task for the known defects of published tasks: `testwright task check swe-atlas:PATH`."""
