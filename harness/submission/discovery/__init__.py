"""Finding test functions in a file's text, without running it: a module for each language."""
