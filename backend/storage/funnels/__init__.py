"""Saved funnels in the database."""
