"""Provisioning: the people and groups that an organization's identity provider tells by SCIM."""
