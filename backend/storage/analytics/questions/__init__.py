"""Queries of analytics as SQL over an organization's facts."""
