"""Single sign-on: what an organization takes from its identity provider, and what the provider decides."""
