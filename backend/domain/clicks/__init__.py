"""Clicks: single ones, blocks and summaries of them, and their ids."""
