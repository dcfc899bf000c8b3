"""Text that is what runs: written anew for each arm, in layouts that must-pass and must-fail arms have alike."""
