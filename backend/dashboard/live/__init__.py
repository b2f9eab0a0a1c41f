"""What happens in the organization right now."""
