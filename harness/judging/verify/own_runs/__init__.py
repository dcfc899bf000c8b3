"""The repository's own runs of its tests, as its developers start them: with the patch alone, and on mutants."""
