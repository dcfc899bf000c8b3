"""Kinds of task, by name: what each hands out, takes in, runs and combines."""
