"""References to a link in a request: by `linkId`, or by its short URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.fields.rules import Schema, Uuid, is_uuid, parse_string
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.web.short_urls import parse_short_url
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.links.links import find_link, find_link_at
from backend.web.current import resources

SHORT_URL: Schema = {"type": "string", "description": "The complete short URL, with its protocol."}
# The body that `parse_reference` reads.
REFERENCE: Schema = {
    "type": "object",
    "description": "At least one of the two; linkId wins.",
    "properties": {
        "shortUrl": {"type": ["string", "null"], "description": SHORT_URL["description"]},
        "linkId": {"type": ["string", "null"], "description": "The link's id."},
    },
}


def _parse_link_id(text: str) -> LinkId:
    if not is_uuid(text):
        raise ApiError(error_table.LINK_ID_INVALID)
    return LinkId(text.lower())


LINK_ID = PathParameter(
    "linkId",
    Uuid().schema(),
    "The link's id.",
    errors=(error_table.LINK_ID_INVALID, error_table.LINK_NOT_FOUND),
    parse=_parse_link_id,
)


def text_of_field(body: Mapping[str, object], field: str) -> str:
    """The text of a field of the body; "" if it is absent, null or blank.

    Raises InvalidField for another type.
    """
    value = body.get(field)
    return "" if value is None else parse_string(field, value).strip()


def is_within_reach(link: Link) -> bool:
    """Whether the current request may concern this link of the caller's organization."""
    within = reach()
    return within is None or within.has(link)


async def find_own_link(link_id: LinkId) -> Link | None:
    """The link with this id, if the caller's organization has it, and the caller reaches it."""
    link = await find_link(resources().database, link_id, caller().org_id)
    return link if link and is_within_reach(link) else None


async def own_link(link_id: LinkId) -> Link:
    """The same. Raises ApiError if there is none."""
    link = await find_own_link(link_id)
    if link is None:
        raise ApiError(error_table.LINK_NOT_FOUND)
    return link


async def find_by_short_url(short_url: str) -> Link | None:
    """The link with this short URL, if the caller's organization has it, and the caller reaches it."""
    place = parse_short_url(short_url)
    link = await find_link_at(resources().database, *place, caller().org_id) if place else None
    return link if link and is_within_reach(link) else None


@dataclass(frozen=True, slots=True)
class LinkReference:
    """The `linkId` and the `shortUrl` of a body, unchecked. One of them may be "", but not both."""

    link_text: str
    short_url: str


def parse_reference(body: Mapping[str, object]) -> LinkReference:
    """Read `linkId` and `shortUrl` from a body.

    Raises ApiError if both are missing (contract, "Errors", shape B).
    """
    reference = LinkReference(text_of_field(body, "linkId"), text_of_field(body, "shortUrl"))
    if not reference.link_text and not reference.short_url:
        raise ApiError(error_table.LINK_DETAILS_EMPTY)
    return reference


async def find_referenced_link(reference: LinkReference) -> Link | None:
    """The caller's link with this `linkId`, or else with this `shortUrl`; None if there is none.

    If both are given, `linkId` counts (decisions, "both given").
    """
    text = reference.link_text
    if not text:
        return await find_by_short_url(reference.short_url)
    return await find_own_link(LinkId(text.lower())) if is_uuid(text) else None
