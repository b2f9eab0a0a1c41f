"""A visitor's request: who asks, from where, and when."""
