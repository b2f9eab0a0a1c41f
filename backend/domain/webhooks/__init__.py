"""Webhooks: an organization's events, sent to addresses that it names."""
