"""Commands that hand an organization's events on: to files, databases and webhooks."""
