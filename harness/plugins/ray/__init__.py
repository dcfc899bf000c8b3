"""Trials on the nodes of a Ray cluster. Only `connection` imports Ray, and only where such a run begins."""
