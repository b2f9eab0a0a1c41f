"""SCIM 2.0 (RFC 7643, RFC 7644): an identity provider tells an organization's people and groups."""

from backend.scim_api.blueprint import scim
from backend.scim_api.errors import or_in_scim

__all__ = ["or_in_scim", "scim"]
