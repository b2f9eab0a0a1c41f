"""Pages about the signed-in user: sign-in, password, organization, subscription."""
