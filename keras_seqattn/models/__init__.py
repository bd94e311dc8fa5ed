"""Layers composed to models."""
