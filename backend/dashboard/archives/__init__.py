"""Pages about archives of the organization."""
