"""Waylink: a dynamic-link service that you host yourself."""
