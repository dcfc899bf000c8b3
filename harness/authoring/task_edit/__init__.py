"""`testwright task edit`: a part of a task as a tree that is edited, stored as a patch."""
