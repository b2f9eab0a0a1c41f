"""Funnels: how many people do one thing after another, how long it takes, and where they stop."""
