"""Pages about the signed-in user and the organization: its domains, apps, keys and subscription."""
