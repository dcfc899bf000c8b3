"""Images of repositories and tasks: recipes, builds, trees, records."""
