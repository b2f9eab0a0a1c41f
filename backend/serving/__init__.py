"""Runs the application: Hypercorn, worker processes, and an orderly stop."""
