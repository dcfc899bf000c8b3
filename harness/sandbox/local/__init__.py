"""The embedded engine, for machines without another: confined by bubblewrap, or hardly confined."""
