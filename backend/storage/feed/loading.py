"""What the facts of a feed's entries were, by type: each loader reads those of many facts at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from backend.domain.feed.events import EventType
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.clicks import load_clicks
from backend.storage.feed.erasures import load_erasures
from backend.storage.feed.identities import load_identities
from backend.storage.feed.installs import load_installs
from backend.storage.feed.links import load_links
from backend.storage.feed.records import COLLECTIONS, load_records
from backend.storage.feed.refunds import load_refunds
from backend.storage.feed.runs import Run, Told

# For each run as many as it has events; None for one of which nothing is known any more.
Loader: TypeAlias = Callable[
    [Database, ClientSession, OrgId, Sequence[Run]], Awaitable[Sequence[Sequence[Told | None]]]
]


def loaders(form: ShortUrlForm) -> Mapping[str, Loader]:
    """The loader of each type of fact, which writes short URLs in this form."""
    of_links = partial(load_links, form)
    return {
        EventType.LINK_CREATED: of_links,
        EventType.LINK_CHANGED: of_links,
        EventType.LINK_ARCHIVED: of_links,
        EventType.CLICK: partial(load_clicks, form),
        **{kind.value: partial(load_records, kind) for kind in COLLECTIONS},
        EventType.REFUND: load_refunds,
        EventType.IDENTIFY: load_identities,
        EventType.INSTALL: load_installs,
        EventType.ERASED: load_erasures,
    }
