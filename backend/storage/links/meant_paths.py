"""Finds which link a short URL means that no link has exactly, by the settings of its domain."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.links.loose_paths import LoosePath, loose_place
from backend.domain.links.path_prefixes import prefixes_in
from backend.storage.accounts.domain_settings import find_link_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.links import (
    find_forwarding_path,
    find_forwarding_path_in_any_case,
    find_loose_path,
)


async def find_meant_place(database: Database, short_url: str) -> tuple[str, str] | None:
    """The domain and path of the link that visitors of a short URL get where no link has its path itself.

    It may be one above, which passes on the rest. None if none is meant, or if several may be.
    """
    domain, prefixes = prefixes_in(short_url)
    above = [path for path, _ in prefixes]
    path = await find_forwarding_path(database, domain, above) if above else None
    if path is None:
        domain, loose = loose_place(short_url)
        path = await _find_meant_path(database, domain, loose, above)
    return (domain, path) if path else None


async def _find_meant_path(
    database: Database, domain: str, loose: LoosePath, above: Sequence[str]
) -> str | None:
    if not loose.paths and not above:
        return None
    link_domain = await find_link_domain(database, domain)
    if link_domain is None:
        return None
    ignores_case = link_domain.settings.ignores_case
    if found := await find_loose_path(database, domain, loose, ignores_case=ignores_case):
        return found
    return await find_forwarding_path_in_any_case(database, domain, above) if above and ignores_case else None
