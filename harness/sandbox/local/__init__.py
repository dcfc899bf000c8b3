"""The embedded engine, for machines without another: bubblewrap, or next to nothing."""
