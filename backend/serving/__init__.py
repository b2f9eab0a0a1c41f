"""Runs the application: Hypercorn, worker processes, and how they stop."""
