"""Funnels in SQL (docs/decisions/funnels.md)."""
