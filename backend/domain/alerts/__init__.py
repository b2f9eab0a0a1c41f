"""Alerts: what an organization wants to be told of, and how it is found in its figures."""
