"""Models: anything that turns messages into a message with usage."""
