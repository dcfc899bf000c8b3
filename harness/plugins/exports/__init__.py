"""Results as files of other programs' formats."""
