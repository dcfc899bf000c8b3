"""Parts that a trial on this machine does without; each is reached through the registries that outsiders use."""
