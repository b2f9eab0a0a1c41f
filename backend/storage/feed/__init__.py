"""Reads the feed of each organization: its events, in one order."""
