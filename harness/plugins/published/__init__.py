"""The published layout of tasks, graded by our rules, by the published ones, or by both."""
