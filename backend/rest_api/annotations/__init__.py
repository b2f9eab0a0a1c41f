"""Annotations over REST."""
