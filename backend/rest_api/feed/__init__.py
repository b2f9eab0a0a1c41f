"""The feed: what happened, in one order that never changes."""
