"""The links to which a key is limited: as the form for a new key names them, and as the list of keys shows
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field
from backend.domain.accounts.api_keys import ApiKey
from backend.domain.accounts.reach.limited_to import LimitedTo, limit_in_words, reach_json
from backend.domain.accounts.reach.link_reach import KINDS, LinkReach
from backend.domain.errors import InvalidField
from backend.domain.ids import KeyId, LinkId
from backend.domain.web.short_urls import parse_short_url
from backend.storage.links.links import find_link_at, find_short_urls
from backend.storage.links.tags import find_reach, find_tag_names
from backend.web.current import resources

LIMIT_FIELDS = tuple(f"limit_{kind}" for kind in KINDS)
_MOST_SHOWN = 3


async def read_limit() -> LinkReach | None:
    """The links that the form names, one in a line; None if it names nothing. Raises InvalidField."""
    names = {kind: lines for kind in KINDS if (lines := _lines(f"limit_{kind}"))}
    if not names:
        return None
    if "links" in names:
        names["links"] = [await _link_id(place, text) for place, text in enumerate(names["links"])]
    return await find_reach(resources().database, org_id(), LimitedTo().parse("limited_to", names))


async def limits_in_words(keys: Iterable[ApiKey]) -> dict[KeyId, str]:
    """What those keys reach that are limited, such as `tag agency-a; link https://go.example/spring`."""
    limited = {key.id: key.limited_to for key in keys if key.limited_to}
    database = resources().database
    tag_names = await find_tag_names(database, org_id(), limited.values())
    link_ids = {link_id for reach in limited.values() for link_id in reach.links or ()}
    short_urls = await find_short_urls(database, org_id(), link_ids, resources().short_url_form)
    return {
        key_id: limit_in_words(_with_short_urls(reach_json(reach, tag_names) or {}, short_urls), _MOST_SHOWN)
        for key_id, reach in limited.items()
    }


def _with_short_urls(
    named: dict[str, list[str] | None], short_urls: Mapping[LinkId, str]
) -> dict[str, list[str] | None]:
    ids = named.get("links")
    if ids is None:
        return named
    return named | {"links": [short_urls[LinkId(text)] for text in ids if text in short_urls]}


def _lines(name: str) -> list[str]:
    return [line.strip() for line in field(name).splitlines() if line.strip()]


async def _link_id(place: int, text: str) -> str:
    """The id of the link that is named by its id or its short URL."""
    short = parse_short_url(text)
    if short is None:
        return text
    link = await find_link_at(resources().database, *short, org_id())
    if link is None:
        raise InvalidField(
            f"limited_to.links[{place}]", f"must be the organization's, and this one is not: {text}"
        )
    return link.id
