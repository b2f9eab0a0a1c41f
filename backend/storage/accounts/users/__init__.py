"""Users of the dashboard: their passwords, their sessions, and from where they sign in."""
