"""A whole organization as a file of JSON lines, written and read back."""
