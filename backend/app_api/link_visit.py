"""Stores opens by links: each is a click of its link, and a visit of its installation."""

from __future__ import annotations

from datetime import date
from urllib.parse import parse_qs, urlsplit

from backend.app_api.link_of_open import MatchedLink
from backend.app_api.service import AppService
from backend.domain.apps.installs import AppOpen, Match
from backend.domain.clicks.clicks import NotCounted
from backend.domain.clicks.ids import ClickPlace
from backend.domain.clicks.opens import LinkOpen, why_open_does_not_count
from backend.domain.clicks.visitor_hashes import app_visitor_hash
from backend.domain.ids import OrgId
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import Link, LinkState
from backend.domain.visitors.app_visits import opened_at, visit_of
from backend.domain.visitors.sources import CLICK_SIGNAL, Source
from backend.json_api.json_body import body_bytes
from backend.web.current import of_app, resources, visitor_country


async def store_link_visit(opened: AppOpen, matched: MatchedLink) -> bool:
    """Store what an open by a link says. Returns whether the open counts as a click of the link.

    It is a click if the app names the link and the open, unless a browser had asked for the link before: the
    short URL then has the id of the click that counted. The visit is one of each open with an id, and of the
    first launch, if the installation's id is a UUID and its person has consented.
    """
    link = matched.link
    if link is None or link.limits.stays_in_browser:
        return False
    # Not by Play's referrer: it stays the same in later opens.
    is_named = matched.match is Match.LINK and opened.open_id is not None
    click = await _counted_click(opened, link)
    reason = _why_not_counted(opened, link)
    link_open = await _link_open(opened, link, reason) if is_named and not click else None
    is_visit = opened.has_consent and opened.device_id and (is_named or opened.is_first_launch)
    source = Source(link, link.utm, click=click) if is_visit and not reason else None
    if link_open or source:
        service = of_app(AppService)
        organization = await service.organizations.get(link.org_id)
        visit = visit_of(
            opened,
            link.org_id,
            resources().clock(),
            source=source,
            link_open=link_open,
            retention_days=organization.retention_days,
        )
        await service.visits.add(visit, body_bytes())
    return link_open is not None and reason is None


def _why_not_counted(opened: AppOpen, link: Link) -> NotCounted | None:
    state = link.state_at(opened_at(opened, resources().clock()))
    if state is LinkState.ENABLED and leads_to(link, resources().block_list.current):
        return NotCounted.HELD
    return why_open_does_not_count(state)


async def _counted_click(opened: AppOpen, link: Link) -> ClickPlace | None:
    """The click that was counted when a browser asked for the short URL, before it opened the app."""
    [click_id, *_] = _parameters(opened.short_url or "").get(CLICK_SIGNAL, [""])
    return await resources().click_signing.place(link.org_id, link.id, click_id) if click_id else None


def _parameters(address: str) -> dict[str, list[str]]:
    try:
        return parse_qs(urlsplit(address).query, max_num_fields=100)
    except ValueError:
        return {}


async def _link_open(opened: AppOpen, link: Link, reason: NotCounted | None) -> LinkOpen:
    return LinkOpen(
        org_id=link.org_id,
        link_id=link.id,
        platform=opened.platform,
        country=visitor_country(),
        reason=reason,
        visitor=None if reason else await _visitor(opened, link.org_id),
        key=resources().click_signing.key_for(link.org_id),
    )


async def _visitor(opened: AppOpen, org_id: OrgId) -> tuple[date, int]:
    """Today in UTC, and what tells its visitors apart."""
    today = resources().clock().date()
    key = await of_app(AppService).visitor_keys.get(today.isoformat())
    return today, app_visitor_hash(key, org_id, opened.install_id)
