"""What organizations say about their identity providers, and what came from these."""
