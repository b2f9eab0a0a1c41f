"""The links that visitors ask for: kept in memory and in a file, and handed over to apps."""
