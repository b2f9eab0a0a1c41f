"""How commands ask for figures: as a service of the same folder does, and of the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.settings import load_settings
from backend.storage.analytics.client import Analytics
from backend.storage.mongo import Database


@asynccontextmanager
async def asking(database: Database) -> AsyncIterator[Analytics]:
    """What a command asks questions of, in the block."""
    analytics = Analytics(database, load_settings())
    try:
        yield analytics
    finally:
        await analytics.close()
