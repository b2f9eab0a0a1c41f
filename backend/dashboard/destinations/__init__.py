"""The pages about destinations: which are allowed, which are broken, and which visitors reported."""
