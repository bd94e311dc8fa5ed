"""Every zoo function: its sizes, its numbers at work, and that it learns."""
