"""Visitors: their devices, identities and calls, and records of what they did."""
