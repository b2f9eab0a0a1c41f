"""The annotations of organizations."""
