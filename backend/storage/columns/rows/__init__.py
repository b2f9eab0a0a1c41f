"""Facts as rows, a file for each kind."""
