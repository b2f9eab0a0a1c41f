"""Examples of receivers of webhooks."""
