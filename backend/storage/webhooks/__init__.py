"""What is kept of webhooks: endpoints, who delivers to them, and what was delivered lately."""
