"""The judge: a named model that answers what code can't decide. Its answers are checked where that is possible."""
