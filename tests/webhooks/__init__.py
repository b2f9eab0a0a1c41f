"""Webhooks: signed, in order, and in spite of faults."""
