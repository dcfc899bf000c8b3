"""The name by which other programs know this package; the package itself is `harness`."""
