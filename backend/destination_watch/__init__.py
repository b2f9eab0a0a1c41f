"""Looks now and then whether what links lead to is still there."""
