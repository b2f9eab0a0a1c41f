"""Finds the deferred deep link of a first launch: the earlier click that probably led to the install."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.apps.deferred_links import Candidate, days_of_window, hash_address, only_candidate
from backend.domain.apps.installs import AppOpen
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.storage.apps.deferred_links import find_candidates
from backend.storage.clicks.address_keys import find_address_keys
from backend.web.current import resources, visitor_address


async def find_deferred_link(
    opened: AppOpen, org_id: OrgId, app_id: str, named: Link | None
) -> Candidate | None:
    """The click that led to a first launch of this app; None if there is none.

    No other installation gets it again.

    If the open names a link (`named`), only clicks on that link count. If several clicks are possible, the
    result is None: a guess could show somebody else's link.
    """
    waiting = await _waiting(opened, org_id, app_id)
    if named:
        waiting = [candidate for candidate in waiting if candidate.link_id == named.id]
    return only_candidate(waiting)


async def _waiting(opened: AppOpen, org_id: OrgId, app_id: str) -> Sequence[Candidate]:
    """The remembered clicks for this app from the address that the open comes from."""
    if not resources().settings.deferred_link_seconds:
        return []
    hashes = await _address_hashes(org_id)
    if not hashes:
        return []
    now = resources().clock()
    return await find_candidates(
        resources().database, hashes, org_id, app_id=app_id, platform=opened.platform, now=now
    )


async def _address_hashes(org_id: OrgId) -> list[str]:
    """The caller's address, hashed with each key that may still be in use for earlier clicks."""
    keys = await find_address_keys(resources().database, days_of_window(resources().clock()))
    address = visitor_address()
    return [hashed for key in keys if (hashed := hash_address(key, org_id, address))]
