"""Pages that answer what was clicked, what it brought in, and what works."""
