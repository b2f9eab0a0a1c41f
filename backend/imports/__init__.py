"""Imports links from files of other services."""
