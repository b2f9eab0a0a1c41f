"""The client with which commands ask the host's analytics process for figures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from backend.environment import load_settings
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database


def _print_progress(clicks: int) -> None:
    click.echo(f"The figures are made from what is stored: {clicks:,} clicks are counted ...", err=True)


@asynccontextmanager
async def analytics_client(database: Database) -> AsyncIterator[Analytics]:
    """An analytics client for the block. While the analytics file is made anew, it waits and says so."""
    analytics = Analytics(database, load_settings(), _print_progress)
    try:
        yield analytics
    finally:
        await analytics.close()
