"""Funnels in SQL."""
