"""Click logs: each process records visits on disk, and its shipper ships the records to MongoDB."""
