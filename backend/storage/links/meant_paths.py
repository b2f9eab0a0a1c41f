"""Finds which link a short URL means that no link has exactly, by the settings of its domain."""

from __future__ import annotations

from backend.domain.links.loose_paths import LoosePath
from backend.storage.accounts.domain_settings import find_link_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_loose_path


async def find_meant_path(database: Database, domain: str, loose: LoosePath) -> str | None:
    """The path of the domain's link that is meant; None if none is, or if several may be."""
    if not loose.paths:
        return None
    link_domain = await find_link_domain(database, domain)
    if link_domain is None:
        return None
    return await find_loose_path(database, domain, loose, ignores_case=link_domain.settings.ignores_case)
