"""A scripted provider: an HTTP server that speaks the vendors' protocols and says what a scenario tells it to."""
