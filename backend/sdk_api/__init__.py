"""What the browser SDK talks to (contract, "Browser SDK interface"; decisions, "Browser SDK")."""

from backend.sdk_api import batch, probe
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.service import attach_sdk_service

__all__ = ["attach_sdk_service", "batch", "probe", "sdk"]
