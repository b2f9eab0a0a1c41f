"""Access to, and erasure of, what is stored about one person."""
