"""Exports a whole organization to a file of JSON lines, and restores it from there."""
