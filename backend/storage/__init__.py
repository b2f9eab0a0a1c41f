"""What is kept, in MongoDB: one file a collection. Nothing outside this package imports the driver."""
