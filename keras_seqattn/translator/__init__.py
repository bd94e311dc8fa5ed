"""Strings in; strings, scores, tokens and alignments out."""
