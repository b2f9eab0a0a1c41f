"""What visitors of link domains see, and what they asked for in vain."""
