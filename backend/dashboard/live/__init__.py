"""The page that shows an organization's events as they arrive."""
