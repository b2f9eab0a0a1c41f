"""Queries of analytics: how they are asked, and what their answers say."""
