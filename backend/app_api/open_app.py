"""POST /open: an app reports that it was opened.

Records installs, and returns the link that the app is to show.
"""

from __future__ import annotations

from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

from backend.app_api.blueprint import app_api, calling_org_id
from backend.app_api.first_launch import record_first_launch
from backend.app_api.link_of_open import MatchedLink, as_opened, find_named_link
from backend.app_api.service import AppService
from backend.domain.apps.installs import AppOpen, Match, parse_open
from backend.domain.clicks.clicks import NotCounted
from backend.domain.clicks.ids import ClickPlace
from backend.domain.clicks.opens import LinkOpen, why_open_does_not_count
from backend.domain.clicks.visitor_hashes import app_visitor_hash
from backend.domain.ids import OrgId
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import SOCIAL_FIELDS, UTM_FIELDS, Link, LinkState
from backend.domain.visitors.app_visits import opened_at, visit_of
from backend.domain.visitors.sources import CLICK_SIGNAL, Source
from backend.json_api.json_body import body_bytes, read_json_object
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


@app_api.post("/open")
async def open_app() -> dict[str, Any]:
    """Record the first launch, and the click that an open by a link is, and return the link.

    `is_counted` says whether this open is a click of its link. `match` says how the link was found. If there
    is no link, or it leads nowhere now (disabled, expired, held), `match` is `none`, and `destination_url`
    and `link` are null.
    """
    opened = parse_open(await read_json_object())
    matched, is_new = await find_named_link(opened, calling_org_id()), False
    if opened.is_first_launch:
        matched, is_new = await record_first_launch(opened, calling_org_id(), matched)
    is_counted = await store_link_visit(opened, matched)
    link = as_opened(matched.link, opened) if matched.link else None
    shown = link if link and _leads_somewhere(link) else None
    return {
        "is_new_install": is_new,
        "is_counted": is_counted,
        "match": (matched.match if shown else Match.NONE).value,
        "destination_url": shown.destination_url if shown else None,
        "link": _link_data(shown) if shown else None,
    }


def _leads_somewhere(link: Link) -> bool:
    """Whether apps are told where the link leads: not past limits, which hold for visitors in browsers."""
    if link.state_at(resources().clock()) is not LinkState.ENABLED or link.limits.stays_in_browser:
        return False
    return not leads_to(link, resources().block_list.current)


def _link_data(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "short_url": resources().short_url_form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "custom_data": link.custom_data,
        **{name: link.utm.get(name) for name in UTM_FIELDS},
        **{name: link.social.get(name) for name in SOCIAL_FIELDS},
    }
