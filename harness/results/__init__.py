"""Rows of run directories, statistics over them, comparisons, tables and the site."""
