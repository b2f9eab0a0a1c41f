"""The REST API for servers (contract, "Endpoints")."""

from backend.rest_api import analytics, change_link, create_link, find_links
from backend.rest_api.blueprint import rest

__all__ = ["analytics", "change_link", "create_link", "find_links", "rest"]
