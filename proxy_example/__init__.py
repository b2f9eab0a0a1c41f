"""A first-party proxy for the browser SDK."""
