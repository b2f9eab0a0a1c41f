"""Visitors' devices, and the calls that tell of them."""
