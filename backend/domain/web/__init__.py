"""Addresses, hosts and clients of the web."""
