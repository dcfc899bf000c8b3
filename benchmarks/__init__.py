"""The budgets, measured on this machine as ratios in one run."""
