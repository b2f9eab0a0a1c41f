"""Processes that are forked from one that has imported what they need, instead of started."""
