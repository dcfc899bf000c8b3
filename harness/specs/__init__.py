"""Models of tasks, repos, rubrics, scaffolds, test ids, results and reasons; loading and validating them."""
