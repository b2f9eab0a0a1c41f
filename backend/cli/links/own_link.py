"""The link of an organization that a command names, and links as commands print them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, as_lines
from backend.cli.links.link_errors import NoSuchLink, link_errors
from backend.cli.links.policies import link_policies
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.json_form import WholeLinkJson, whole_link_json
from backend.domain.links.links import Behavior, CreatedBy, Link
from backend.domain.links.operations import LinkOperation, LinkRequest
from backend.domain.links.rules.words import condition_in_words, outcome_in_words
from backend.domain.web.short_urls import parse_short_url
from backend.environment import load_settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.links.lists.details import read_details
from backend.storage.links.writing.writes import store_link
from backend.system.clock import utc_now

_BEHAVIORS = {Behavior.BROWSER: "opens in the browser", Behavior.APP: "opens in the app"}


async def own_link(database: Database, org_id: OrgId, text: str) -> Link:
    """The organization's link with this id or short URL. Raises NoSuchLink."""
    await get_organization(database, org_id)
    link = await _find(database, org_id, text.strip())
    if link is None:
        raise NoSuchLink(text, org_id)
    return link


async def _find(database: Database, org_id: OrgId, text: str) -> Link | None:
    if is_uuid(text):
        return await links.find_link(database, LinkId(text.lower()), org_id)
    place = parse_short_url(text if "://" in text else f"https://{text}")
    return await links.find_link_at(database, *place, org_id) if place else None


async def carry_out(database: Database, org_id: OrgId, operation: LinkOperation) -> CommandResult:
    """Carry out one operation, as over REST, and give the link as it is then."""
    request = LinkRequest(org_id, CreatedBy.PERSON, utc_now(), operation)
    with link_errors(org_id):
        link = await store_link(database, request, link_policies(database))
    return await whole_link(database, link)


async def whole_link(database: Database, link: Link) -> CommandResult:
    """The link with every field, as REST shows it."""
    return (await whole_links(database, [link], utc_now()))[0]


async def whole_links(database: Database, stored_links: Sequence[Link], now: datetime) -> list[WholeLinkJson]:
    """These links with every field, as REST shows them."""
    async with analytics_client(database) as analytics:
        details = await read_details(database, analytics, stored_links, now)
    form = load_settings().short_url_form
    return [whole_link_json(link, details, form, now) for link in stored_links]


def in_words(link: CommandResult) -> str:
    """A whole link for people: a line for each field, and for each of its rules."""
    custom_data: Any = link["custom_data"]
    words = {
        **link,
        "ios_behavior": _BEHAVIORS[link["ios_behavior"]],
        "android_behavior": _BEHAVIORS[link["android_behavior"]],
        "custom_data": None if custom_data is None else json.dumps(custom_data, ensure_ascii=False),
        "tags": ", ".join(link["tags"]) or None,
        "rules": None,
    }
    if link["rules"]:
        del words["rules"]
    for number, rule in enumerate(link["rules"], 1):
        words[f"rule {number}"] = f"{condition_in_words(rule)}, {outcome_in_words(rule)}"
    return as_lines(words)
