"""Loads the contents of a feed's events. Each type has a loader, which reads those of many facts at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from backend.domain.feed.events import EventType
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.alerts import load_alerts
from backend.storage.feed.loaders.audit import load_audit
from backend.storage.feed.loaders.clicks import load_clicks
from backend.storage.feed.loaders.contacts import load_contacts
from backend.storage.feed.loaders.erasures import load_erasures
from backend.storage.feed.loaders.installs import load_installs
from backend.storage.feed.loaders.links import load_links
from backend.storage.feed.loaders.records import COLLECTIONS, load_records
from backend.storage.feed.loaders.refunds import load_refunds
from backend.storage.feed.loaders.runs import EventContent, Run

# A loader returns for each run the contents of its events; None for an event whose data was deleted.
Loader: TypeAlias = Callable[
    [Database, ClientSession, OrgId, Sequence[Run]], Awaitable[Sequence[Sequence[EventContent | None]]]
]


def loaders(form: ShortUrlForm) -> Mapping[str, Loader]:
    """The loader of each type of fact, which writes short URLs in this form."""
    load = partial(load_links, form)
    return {
        EventType.LINK_CREATED: load,
        EventType.LINK_CHANGED: load,
        EventType.LINK_ARCHIVED: load,
        EventType.CLICK: partial(load_clicks, form),
        EventType.OPEN: partial(load_clicks, form),
        **{kind.value: partial(load_records, kind) for kind in COLLECTIONS},
        EventType.REFUND: load_refunds,
        EventType.IDENTIFY: load_contacts,
        EventType.INSTALL: load_installs,
        EventType.ERASED: load_erasures,
        EventType.ALERT: load_alerts,
        EventType.AUDIT: load_audit,
    }
