"""API keys over REST."""
