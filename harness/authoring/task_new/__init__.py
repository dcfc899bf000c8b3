"""`testwright task new`: upstream's tests taken out, the code that they alone reach, and skeletons of the rest."""
