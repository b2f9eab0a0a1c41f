"""Stores the demo's history: what an earlier start has not stored yet, up to the present hour.

Clicks become blocks, as those that are shipped from a click log. Touches, leads and sales go through the same
decisions as the SDK's calls. A day is stored with its clicks last, whose log position says how far the
history has come: so nothing is in it twice, whatever interrupts it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from backend.domain.clicks.block import block_of
from backend.domain.fields.item_names import name_key
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ChangeLink, LinkRequest
from backend.domain.links.tags import PALETTE, Tag
from backend.storage.accounts import domains, origins
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead, find_head
from backend.storage.clicks.signing import PURPOSE
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.demo_history import (
    MARK,
    find_history_links,
    insert_history_links,
    log_id,
)
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.tags import find_tag_ids
from backend.storage.links.writing.writes import store_link
from backend.storage.sales.batches import store_batches
from demo_site.history.alert_rules import make_alert_rules
from demo_site.history.catalogue import DOMAINS, MOST_LINKS, TAGS, PlannedLink, planned_links
from demo_site.history.costs import make_costs
from demo_site.history.days import History, UsedLink
from demo_site.history.funnels import make_funnels
from demo_site.history.journeys import Ids

DAYS = 60
_BATCHES_PER_WRITE = 100
_BEGIN = "demo_history_begins"  # in the links' custom data: the day on which the history begins
Progress = Callable[[int, int], None]


async def make_history(
    database: Database,
    org_id: OrgId,
    shop: str,
    now: datetime,
    progress: Progress,
    *,
    days: int = DAYS,
    links: int = MOST_LINKS,
) -> None:
    """Store what is missing of the history.

    On the first start it begins `days` days ago, with `links` links that lead to the shop at this address.
    `progress` is called with the number of stored days and of all days to store.
    """
    begun = await find_history_links(database, org_id)
    if not begun:
        begun = await _make_links(database, org_id, shop, now, days=days, most=links)
    await _lead_to(database, begun, shop, now)
    history = await _history(database, org_id, begun)
    await make_costs(database, org_id, begun, history.at(0).date(), now)
    head = await find_head(database, log_id(org_id))
    done = head.position
    until = int((now - history.at(0)) / timedelta(hours=1))
    steps = [range(max(done, start), min(start + 24, until)) for start in range(done - done % 24, until, 24)]
    progress(0, len(steps))
    for number, hours in enumerate(steps, start=1):
        try:
            head = await _store(database, org_id, history, head, hours)
        except AlreadyShipped:  # another process makes the same history
            return
        progress(number, len(steps))


async def _store(database: Database, org_id: OrgId, history: History, head: LogHead, hours: range) -> LogHead:
    """Store some hours of a day: first the SDK's calls, which are known by their ids if they come again."""
    batches = history.batches(hours)
    for start in range(0, len(batches), _BATCHES_PER_WRITE):
        await store_batches(database, batches[start : start + _BATCHES_PER_WRITE])
    clicks = history.clicks(hours)
    blocks = [block_of(org_id, clicks)] if clicks else []
    return await ship_blocks(database, log_id(org_id), head, hours.stop, blocks)


async def _history(database: Database, org_id: OrgId, begun: list[Link]) -> History:
    """The history of these links. It goes on without links that were deleted since its beginning."""
    begin = date.fromisoformat((begun[0].custom_data or {})[_BEGIN])
    plans = {_external_id(number): plan for number, plan in enumerate(planned_links(begin))}
    used = [UsedLink(plans[link.external_id], link) for link in begun if link.external_id in plans]
    retention = await find_retention_days(database, [org_id])
    used.sort(key=lambda used_link: used_link.link.external_id or "")
    key = await signing_key(database, PURPOSE)
    return History(_run(org_id), begin, used, key, retention[org_id])


async def _make_links(
    database: Database, org_id: OrgId, shop: str, now: datetime, *, days: int, most: int
) -> list[Link]:
    for domain in DOMAINS:
        await domains.insert_domain(database, domain, org_id, now)
    await origins.add_origin(database, shop.rstrip("/"), org_id, now)
    begin = (now.astimezone(UTC) - timedelta(days=days)).date()
    plans = planned_links(begin, most)
    tag_ids, new_tags = await _tags(database, org_id, plans, now)
    made = [
        replace(_link(org_id, shop, plan, number, begin, now), tag_ids=[tag_ids[name] for name in plan.tags])
        for number, plan in enumerate(plans)
    ]
    await insert_history_links(database, made, new_tags)
    await make_alert_rules(database, org_id, made, now)
    await make_funnels(database, org_id, now)
    return made


async def _tags(
    database: Database, org_id: OrgId, plans: Sequence[PlannedLink], now: datetime
) -> tuple[dict[str, TagId], list[Tag]]:
    """The ids of the tags that these links have, by name, and those of them that are not there yet."""
    used = {name for plan in plans for name in plan.tags}
    tag_ids = await find_tag_ids(database, None, org_id, used)
    new = [
        Tag(
            TagId(Ids(_run(org_id), "tag").uuid(name)),
            org_id,
            name,
            PALETTE[color],
            now.replace(microsecond=0),
        )
        for name, color in TAGS.items()
        if name in used and name_key(name) not in tag_ids
    ]
    tag_ids |= {name_key(tag.name): tag.id for tag in new}
    return {name: tag_ids[name_key(name)] for name in used}, new


def _link(  # noqa: PLR0917 - all are what the link is made of
    org_id: OrgId, shop: str, plan: PlannedLink, number: int, begin: date, now: datetime
) -> Link:
    """The link of a plan. A link that is launched in the future is made now."""
    made_on = begin + timedelta(days=plan.launched)
    created_at = datetime(made_on.year, made_on.month, made_on.day, 8, number % 60, tzinfo=UTC)
    in_use = plan.disabled - plan.launched if plan.disabled else 0
    return Link(
        id=LinkId(str(uuid.uuid4())),
        org_id=org_id,
        domain=plan.domain,
        path=plan.path,
        destination_url=shop + plan.page,
        link_name=plan.name,
        created_at=min(created_at, now),
        modified_at=min(created_at + timedelta(days=in_use), now),
        is_enabled=plan.disabled is None,
        utm=plan.utm,
        custom_data={_BEGIN: begin.isoformat()},
        external_id=_external_id(number),
        created_by=CreatedBy.PERSON,
    )


async def _lead_to(database: Database, begun: list[Link], shop: str, now: datetime) -> None:
    """Change the links' destinations if the shop's port has changed since they were made."""
    policies = DestinationPolicies(database)
    for link in begun:
        page = link.destination_url.removeprefix("http://localhost:").lstrip("0123456789")
        if link.destination_url.startswith("http://localhost:") and link.destination_url != shop + page:
            change = ChangeLink(link.id, {"destination_url": shop + page})
            request = LinkRequest(link.org_id, CreatedBy.PERSON, now, change)
            await store_link(database, request, policies)


def _run(org_id: OrgId) -> str:
    """The first eight digits of the organization's id, with which all ids of the history begin."""
    return org_id[:8]


def _external_id(number: int) -> str:
    return f"{MARK}{number:03d}"
