"""What campaigns cost."""
