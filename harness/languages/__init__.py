"""Everything that depends on a repository's programming language: a folder for each, and what they share."""
