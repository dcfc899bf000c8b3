"""Native agents: commands of other people's making, which reach their model through the gateway."""
