"""Measure how many small faults, drawn by a seed, the tests catch."""
