"""What the JSON APIs of servers and apps share: bodies, keys, rate limits, and errors."""
