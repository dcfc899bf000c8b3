"""The gate that every task passes: `testwright task check`."""
