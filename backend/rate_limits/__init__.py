"""Rate limits by key and by address: exact in the database, or in memory and shared now and then."""
