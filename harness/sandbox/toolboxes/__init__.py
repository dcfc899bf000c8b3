"""Toolboxes: the programs of native scaffolds with all that they need, mounted read-only into any task's sandbox."""
