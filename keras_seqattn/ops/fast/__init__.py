"""Fast twins of the functions of `ops`, reached through `ops.dispatch` only."""
