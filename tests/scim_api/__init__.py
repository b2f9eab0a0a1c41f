"""SCIM, as identity providers speak it."""
