"""Shipped test kit: what the library's own tests use, for your layers too."""
