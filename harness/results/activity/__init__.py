"""Activity of agents, by their trajectories; never part of a verdict."""
