"""Tasks in other frameworks: agents of Inspect and Harbor work in our sandbox, and our verdict is their score."""
