"""Weights around `ops`; one public class per file."""
