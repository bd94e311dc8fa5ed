"""Proofs: every encoder in front of every decoder, which takes about an hour."""
