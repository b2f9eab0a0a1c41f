"""Archives of the organization over REST."""
