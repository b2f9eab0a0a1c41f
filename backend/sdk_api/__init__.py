"""The API for the browser SDK (contract, "Browser SDK interface"; decisions, "Browser SDK")."""

from backend.sdk_api import probe
from backend.sdk_api.batch import BatchRoute
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.service import SdkService

__all__ = ["BatchRoute", "SdkService", "probe", "sdk"]
