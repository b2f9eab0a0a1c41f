"""The feed's entries, their order, and reading them."""
