"""What the facts of a feed's entries were, by type: each loader reads those of many facts at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from backend.domain.feed.events import EventType
from backend.domain.ids import OrgId
from backend.storage.feed.clicks import load_clicks
from backend.storage.feed.runs import Run, Told
from backend.storage.mongo import ClientSession, Database

# For each run as many as it has events; None for one of which nothing is known any more.
Loader: TypeAlias = Callable[
    [Database, ClientSession, OrgId, Sequence[Run]], Awaitable[Sequence[Sequence[Told | None]]]
]
LOADERS: Mapping[str, Loader] = {
    EventType.CLICK: load_clicks,
}
