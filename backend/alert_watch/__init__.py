"""Looks regularly at what alert rules are about, and tells what they find."""
