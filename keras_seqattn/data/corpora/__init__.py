"""Corpora of others: Multi30k, Tatoeba, CMUdict."""
