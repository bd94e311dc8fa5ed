"""The choice of tokens: one loop, several searches, any model that can step."""
