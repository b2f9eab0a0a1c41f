"""All access to MongoDB, one file for each collection. No other package imports the MongoDB driver."""
