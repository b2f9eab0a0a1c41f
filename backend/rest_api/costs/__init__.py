"""Costs of campaigns over REST."""
