"""Points out of a hundred beside the verdict, by a `scoring.yaml` of a task or a track. They change no verdict."""
