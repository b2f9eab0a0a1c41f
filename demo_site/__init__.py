"""Windrow, a small kite shop that uses Waylink as a site owner would."""
