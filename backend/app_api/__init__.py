"""The API for mobile apps: opens and installs (decisions, "Mobile SDK keys")."""

from backend.app_api import open_app
from backend.app_api.blueprint import app_api
from backend.app_api.service import AppService

__all__ = ["AppService", "app_api", "open_app"]
