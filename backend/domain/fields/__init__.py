"""Rules for the values of fields, and kinds of values that have their own."""
