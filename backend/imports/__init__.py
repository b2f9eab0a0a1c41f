"""Links from elsewhere."""
