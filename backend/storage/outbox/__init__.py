"""The outbox of the feed: who stores facts notes them here, and each gets its place in one order."""
