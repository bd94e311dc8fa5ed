"""Our layers beside the same model as a user writes it: `python -m benchmarks.run`."""
