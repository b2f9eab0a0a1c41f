"""Archives of organizations that are made in the background."""
