"""The pages of who is signed in: sign-in, password, organization, subscription."""
