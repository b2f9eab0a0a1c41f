"""The page with customers over time."""
