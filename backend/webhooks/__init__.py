"""Delivers events to endpoints: in order for each, by one process at a time, until they arrive."""
