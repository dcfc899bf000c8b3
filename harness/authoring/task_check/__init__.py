"""The check that every task passes: `testwright task check`."""
