"""The feed: everything that happened in an organization, in one order that never changes."""
