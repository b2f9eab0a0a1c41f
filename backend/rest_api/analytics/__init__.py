"""Queries of analytics, and counts of clicks and installs."""
