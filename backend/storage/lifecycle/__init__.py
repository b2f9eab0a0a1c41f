"""What holds for all collections: indexes, archives, retention, deletion."""
