"""The API for the browser SDK (contract, "Browser SDK interface"; decisions, "Browser SDK")."""

from backend.sdk_api import batch, probe
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.service import SdkService

__all__ = ["SdkService", "batch", "probe", "sdk"]
