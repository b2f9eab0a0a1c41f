"""Funnels in the dashboard."""
