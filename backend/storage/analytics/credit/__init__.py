"""Credit for sales and leads, in SQL."""
