"""Fused versions of what is readable in `ops`, reached through `ops.dispatch` only."""
