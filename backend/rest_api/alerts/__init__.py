"""Alert rules and alerts over REST."""
