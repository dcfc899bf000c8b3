"""Formulas: numbers in, numbers out. Nothing here knows of runs or trials."""
