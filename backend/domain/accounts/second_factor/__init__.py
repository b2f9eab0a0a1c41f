"""A user's second factor: codes of an app, and passkeys."""
