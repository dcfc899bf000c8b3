"""The judge: a named model that answers what code can't tell, and is believed only as far as it can be checked."""
