"""Bugs: an agent reproduces a reported fault by a test, names its place and repairs it; each part is judged apart."""
