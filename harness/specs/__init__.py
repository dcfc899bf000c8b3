"""What a task, repo, rubric, scaffold, test id, result and reason is; loading and validating them."""
