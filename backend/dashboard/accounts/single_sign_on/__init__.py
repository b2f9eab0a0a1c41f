"""Pages of single sign-on: for the owner who sets it up, and for whoever signs in by it."""
