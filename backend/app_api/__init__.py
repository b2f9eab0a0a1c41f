"""The API for mobile apps: opens, installs, and links that apps make (decisions, "Mobile SDK keys")."""

from backend.app_api import make_link, open_app
from backend.app_api.blueprint import app_api
from backend.app_api.service import AppService

__all__ = ["AppService", "app_api", "make_link", "open_app"]
