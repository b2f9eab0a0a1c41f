"""Links: their fields, limits and rules, and what may be done to them."""
