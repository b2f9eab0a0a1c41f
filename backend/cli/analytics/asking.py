"""How commands ask for figures: as a service of the same folder does, and of the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from backend.settings import load_settings
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database


def _tell(clicks: int) -> None:
    click.echo(f"The figures are made from what is stored: {clicks:,} clicks are counted ...", err=True)


@asynccontextmanager
async def asking(database: Database) -> AsyncIterator[Analytics]:
    """What a command asks questions of, in the block. While figures are made anew, it waits and says so."""
    analytics = Analytics(database, load_settings(), _tell)
    try:
        yield analytics
    finally:
        await analytics.close()
