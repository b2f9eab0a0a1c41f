"""Click logs: each process writes clicks to disk, and the shipper moves them into the database."""
