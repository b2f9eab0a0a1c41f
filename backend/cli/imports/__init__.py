"""`waylink import`."""
