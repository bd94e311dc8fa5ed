"""Rivals: what people write today, as well as they write it."""
