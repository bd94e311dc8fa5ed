"""Do the tests catch faults? Small ones, drawn by a seed, tell."""
