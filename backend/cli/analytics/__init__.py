"""`waylink report`: figures of what links brought."""
