"""Members and invitations over REST."""
