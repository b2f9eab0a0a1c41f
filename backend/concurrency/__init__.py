"""Tools for concurrent work. They know nothing of links or clicks."""
