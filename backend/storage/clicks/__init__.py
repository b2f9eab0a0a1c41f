"""Clicks: blocks and summaries of them, and what is needed to sign their ids."""
