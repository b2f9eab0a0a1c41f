"""Links and what is kept of them."""
