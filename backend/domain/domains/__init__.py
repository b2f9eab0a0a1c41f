"""What visitors of a link domain see: its root, its pages, and what they asked for in vain."""
