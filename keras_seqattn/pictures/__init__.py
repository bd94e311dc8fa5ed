"""An alignment with its tokens, their places and its measures, ready to be shown."""
