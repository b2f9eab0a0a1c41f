"""Finds the link that a visitor means whose request no link has exactly."""

from __future__ import annotations

from backend.domain.domains.orphans import is_probe
from backend.domain.links.loose_paths import LoosePath, loose_path
from backend.redirector.links.cache import LinkCache
from backend.redirector.links.cached_link import CachedLink
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_loose_path

_READ_SECONDS = 0.8  # as long as for a link at the path itself
# The link, and the query of the visit with what its path hides of it.
Meant = tuple[CachedLink, str]


def loose_path_of(raw_path: bytes) -> LoosePath:
    """What a request for this path may mean; nothing where a program looks for weak servers."""
    try:
        text = raw_path.decode("utf-8")
    except UnicodeDecodeError:
        return LoosePath()
    return LoosePath() if is_probe(text.removeprefix("/")) else loose_path(text)


async def find_meant(
    cache: LinkCache, database: Database, host: str, loose: LoosePath, query: str, *, ignores_case: bool
) -> Meant | None:
    """The link that is meant, where there is none at the path itself. Raises StorageError or LinkUnavailable.

    `query` is the query string of the visit.
    """
    if not loose.paths:
        return None
    with deadline(_READ_SECONDS):
        found = await find_loose_path(database, host, loose, ignores_case=ignores_case)
    if found is None:
        return None
    entry = cache.current(host, found) or await cache.load(host, found)
    return (entry, loose.with_query(query)) if entry else None
