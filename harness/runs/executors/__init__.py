"""Executors of trials: on this machine, or elsewhere."""
