"""Archives that are made in the background: what is known about each, and the pieces of its file."""
