"""How each language's variants come to run: what is text, what is code, and how one is made of the other."""
