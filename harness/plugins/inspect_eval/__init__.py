"""Tasks as an evaluation of Inspect: its agents work in our sandbox, and our verdict is the score."""
