"""The protocols that native agents speak: what is read, withheld, answered and refused in each."""
