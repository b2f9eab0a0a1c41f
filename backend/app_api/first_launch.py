"""Records first launches. Each installation counts once for ever, with the link that led to it."""

from __future__ import annotations

from collections.abc import Sequence

from backend.app_api.link_of_open import MatchedLink
from backend.domain.apps.clipboard_texts import ClipboardText, id_of_text
from backend.domain.apps.deferred_links import (
    Candidate,
    app_of_open,
    days_of_window,
    hash_address,
    only_candidate,
)
from backend.domain.apps.installs import AppOpen, AppPlatform, Install, Match
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.visitors.app_visits import opened_at
from backend.json_api.call_limits import sender
from backend.storage.accounts.apps import list_apps
from backend.storage.apps.clipboard_texts import find_text
from backend.storage.apps.deferred_links import find_candidates
from backend.storage.apps.installs import AlreadyClaimed, RecordedInstall, find_install, record_install
from backend.storage.clicks.address_keys import find_address_keys
from backend.storage.links.links import find_link
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


async def find_copied_text(opened: AppOpen, org_id: OrgId, app_id: str) -> ClipboardText | None:
    """The text that the open brings, if it can be redeemed: it is of this organization and of this app."""
    text_id = id_of_text(opened.clipboard_text or "")
    if text_id is None or opened.platform is not AppPlatform.IOS:
        return None
    return await find_text(resources().database, text_id, org_id, app_id, resources().clock())


# Found from what a tap in a browser left, and not from what the app itself names at each open.
_LEFT_BY_TAP = frozenset({Match.CLIPBOARD, Match.ADDRESS})


async def record_first_launch(opened: AppOpen, org_id: OrgId, named: MatchedLink) -> tuple[MatchedLink, bool]:
    """Record a first launch. Returns the link that led to it, and whether the installation is new.

    `named` is the link that the open itself names. An installation that reports again (because an answer was
    lost, or two requests came at once) gets the same link as before and counts against no limit. Raises
    ApiError if the installation is new and its address has reported too many.
    """
    is_counted = False
    while not (recorded := await find_install(resources().database, org_id, opened.install_id)):
        if not is_counted:
            await sender().count_install(org_id)
            is_counted = True
        try:
            if matched := await _record(opened, org_id, named):
                return matched, True
        except AlreadyClaimed:  # another installation was faster: choose among what remains
            continue
    return (named if named.link else await _earlier_answer(recorded, org_id)), False


async def _record(opened: AppOpen, org_id: OrgId, named: MatchedLink) -> MatchedLink | None:
    """Record the installation with its link, which is returned; None if it was recorded before.

    Whatever a tap on that link left is used up, also if the link was found in another way. Raises
    AlreadyClaimed if another installation has just used it up.
    """
    matched = named
    app_id = await _opened_app(opened, org_id)
    text = await find_copied_text(opened, org_id, app_id) if app_id else None
    if text and not matched.link:
        matched = await _matched(text.link_id, Match.CLIPBOARD, org_id)
    candidate = await find_deferred_link(opened, org_id, app_id, matched.link) if app_id else None
    if candidate and not matched.link:
        matched = await _matched(candidate.link_id, Match.ADDRESS, org_id)
    install = Install(
        org_id=org_id,
        install_id=opened.install_id,
        platform=opened.platform,
        link_id=matched.link.id if matched.link else None,
        at=opened_at(opened, resources().clock()),
        match=matched.match,
        candidate_ids=candidate.ids if candidate else (),
        text_id=text.id if text and matched.link and text.link_id == matched.link.id else None,
    )
    return matched if await record_install(resources().database, install) else None


async def _opened_app(opened: AppOpen, org_id: OrgId) -> str | None:
    apps = await list_apps(resources().database, org_id)
    return app_of_open(apps.values(), opened.platform, opened.app_id)


async def _earlier_answer(recorded: RecordedInstall, org_id: OrgId) -> MatchedLink:
    if recorded.link_id and recorded.match in _LEFT_BY_TAP:
        return await _matched(recorded.link_id, recorded.match, org_id)
    return MatchedLink()


async def _matched(link_id: LinkId, match: Match, org_id: OrgId) -> MatchedLink:
    link = await find_link(resources().database, link_id, org_id)
    return MatchedLink(link, match) if link else MatchedLink()
