"""The REST API for servers (contract, "Endpoints")."""

from backend.rest_api.links.creation_route import CREATION_PATHS, CreationRoute
from backend.rest_api.openapi.documentation import documentation
from backend.rest_api.routes.blueprint import rest

__all__ = ["CREATION_PATHS", "CreationRoute", "documentation", "rest"]
