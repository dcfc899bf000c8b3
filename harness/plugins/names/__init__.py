"""Names that don't exist, found by running a suite once beside its verdict, which they never change."""
