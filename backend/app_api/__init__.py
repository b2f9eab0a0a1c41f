"""The API for mobile apps: opens and installs (decisions, "Mobile SDK keys")."""

from backend.app_api import open_app
from backend.app_api.blueprint import app_api

__all__ = ["app_api", "open_app"]
