"""The limits of the APIs, as the settings have them."""

from __future__ import annotations

from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit
from backend.settings import Settings
from backend.storage.mongo import Database


class ServiceLimits:
    """Every limit of the APIs."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.rest_requests = ExactLimit(database, Limit("rest", settings.rate_limit))
