"""Finds the link above a requested path, which passes on the rest of that path."""

from __future__ import annotations

from backend.domain.links.path_prefixes import Prefixes, rest_below
from backend.redirector.links.cache import LinkCache
from backend.redirector.links.cached_link import CachedLink
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_forwarding_path, find_forwarding_path_in_any_case

_READ_SECONDS = 0.8  # as long as for a link at the path itself
# The link, and what follows its path.
Above = tuple[CachedLink, str]


def above_in_memory(cache: LinkCache, host: str, path: str | None, prefixes: Prefixes) -> Above | None:
    """The link that is known without the database to get what is asked for, where memory has no link at the
    path itself. None if there is none, or if the database has to be asked.

    `path` is None if no link can have the path itself. `prefixes` are those of `path_prefixes`.
    """
    for place, (above, rest) in enumerate(prefixes):
        if entry := cache.in_memory(host, above):
            longer = [path, *(prefix for prefix, _ in prefixes[:place])]
            return (entry, rest) if entry.takes(longer) else None
    return None


async def find_above(
    cache: LinkCache, database: Database, host: str, prefixes: Prefixes, *, in_any_case: bool = False
) -> Above | None:
    """The link with the longest of these paths that passes on what follows, where there is none at the path
    itself. Raises StorageError or LinkUnavailable.

    With `in_any_case`, the only link with the letters of one, where none has the path itself.
    """
    if not prefixes:
        return None
    find = find_forwarding_path_in_any_case if in_any_case else find_forwarding_path
    with deadline(_READ_SECONDS):
        found = await find(database, host, [path for path, _ in prefixes])
    if found is None:
        return None
    entry = cache.current(host, found) or await cache.load(host, found)
    return (entry, rest_below(prefixes, found)) if entry and entry.link.forwards_path else None
