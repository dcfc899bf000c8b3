"""Everything that depends on a repository's programming language: one folder per language, and shared parts."""
