"""Conduct: what a suite's text shows of how it reaches its verdicts. Means, copies and records; notes, no reasons."""
