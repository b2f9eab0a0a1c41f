"""The pages for link domains: their state, and the apps that open their links."""
