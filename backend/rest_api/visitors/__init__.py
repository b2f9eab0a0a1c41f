"""Devices of customers."""
