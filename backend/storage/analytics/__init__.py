"""Analytics: an organization's facts in columns, made from its feed, and what can be asked of them."""
