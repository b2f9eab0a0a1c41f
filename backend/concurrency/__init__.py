"""Tools for work that goes on side by side; they know nothing of links or clicks."""
