"""Commands for organizations, and for who and what belongs to them."""
