"""The pages of domains: their state, and the apps that open their links."""
