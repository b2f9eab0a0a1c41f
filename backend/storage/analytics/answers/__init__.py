"""Answers to queries of analytics: their rows, in order, page by page, and notes on them."""
