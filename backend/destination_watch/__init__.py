"""Checks regularly whether the destinations of links still answer."""
