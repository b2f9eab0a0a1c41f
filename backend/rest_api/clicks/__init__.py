"""The export of single clicks."""
