"""Funnels over REST."""
