"""Results for people: terminal tables."""
