"""Public corpora: Multi30k, Tatoeba, CMUdict."""
