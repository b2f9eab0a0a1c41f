"""Questions about an organization's facts, and the client that asks them."""
