"""Step times beside the same model as a user writes it today. `python -m benchmarks.run`."""
