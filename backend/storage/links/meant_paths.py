"""Finds which link a short URL means that no link has exactly, by the settings of its domain."""

from __future__ import annotations

from backend.domain.links.loose_paths import LoosePath
from backend.domain.links.path_prefixes import Prefixes
from backend.storage.accounts.domain_settings import find_link_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_forwarding_path_in_any_case, find_loose_path


async def find_meant_path(
    database: Database, domain: str, loose: LoosePath, prefixes: Prefixes = ()
) -> str | None:
    """The path of the domain's link that is meant; None if none is, or if several may be.

    With `prefixes`, it may also be one above what was asked for, which passes on the rest.
    """
    if not loose.paths and not prefixes:
        return None
    link_domain = await find_link_domain(database, domain)
    if link_domain is None:
        return None
    ignores_case = link_domain.settings.ignores_case
    if found := await find_loose_path(database, domain, loose, ignores_case=ignores_case):
        return found
    above = [path for path, _ in prefixes] if ignores_case else []
    return await find_forwarding_path_in_any_case(database, domain, above) if above else None
