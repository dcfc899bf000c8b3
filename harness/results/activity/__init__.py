"""What agents do, by their trajectories; never part of a verdict."""
