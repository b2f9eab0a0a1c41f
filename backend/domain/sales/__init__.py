"""Sales and leads: what becomes of the calls that tell of them, and who gets the credit."""
