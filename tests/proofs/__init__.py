"""Proofs: every encoder in front of every decoder, about 15 minutes."""
