"""Reports in the database."""
