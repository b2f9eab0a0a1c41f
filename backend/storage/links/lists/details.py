"""Reads the details that are shown with links: their clicks, their tags and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from backend.domain.links.json_form import LinkDetails
from backend.domain.links.links import Link
from backend.storage.analytics.clicks.click_windows import ClickWindows
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_tags_of
from backend.storage.links.taken_clicks import count_taken


async def read_details(
    database: Database, analytics: Analytics, links: Sequence[Link], now: datetime
) -> LinkDetails:
    """The details of one organization's links up to `now`: clicks, tags, and how much of limits is used."""
    counts = {}
    if links:
        windows = ClickWindows([link.id for link in links], now)
        counts = await analytics.ask(links[0].org_id, windows)
    tags = await find_tags_of(database, links)
    limited_ids = [link.id for link in links if link.limits.max_clicks is not None]
    return LinkDetails(counts, tags, await count_taken(database, limited_ids))
