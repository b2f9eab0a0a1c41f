"""/domains/{name}/orphans: what people asked a domain for and no link has."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.costs.input import Day
from backend.domain.domains.json_form import not_kept_json, orphan_json
from backend.domain.domains.orphan_pages import MARK_CHARACTERS, OrphanPlace, counts_from, page_behind
from backend.domain.fields.rules import SURROGATE, Text
from backend.rest_api.domains.domains import DOMAIN_NAME, ONE
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.cursor_text import RefusedCursor, read_cursor, write_cursor
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_string import query_error
from backend.storage.accounts.domain_settings import find_domain_settings
from backend.storage.links.nearest import with_nearest
from backend.storage.links.orphans import find_orphans, forget_orphans
from backend.web.current import resources

_PATH = f"{ONE}/orphans"
_AT_ONCE = 100
_DAYS = timedelta(days=30)
_LONGEST_CURSOR = 8192  # with 1,000 marks of five characters, and a path of 128, both encoded
_MOST_VISITS = 10**15
_LATEST = 10**11  # in the year 5138
_MARKS = re.compile(rf"(?:[\w-]{{{MARK_CHARACTERS}}})*", re.ASCII)
_QUERY = {
    "from": QueryParameter(Day(), "The first day, in UTC.", default="30 days before to"),
    "to": QueryParameter(Day(), "The day after the last one.", default="tomorrow"),
    "cursor": QueryParameter(Text(_LONGEST_CURSOR), "The next_cursor of the answer before."),
}


@Operation(
    method="GET",
    path=_PATH,
    summary="List what people asked a domain for and no link has",
    path_parameter=DOMAIN_NAME,
    query=_QUERY,
    needs=(Permission.ANALYTICS_READ,),
    answer="OrphanList",
)
async def get_orphans(name: str, query: dict[str, Any]) -> dict[str, Any]:
    """Up to 100 paths, those of most visits first, with the link that is most like each.

    Bots are not counted. Visits of the last seconds are not there yet. Paths are kept for 90 days. All
    pages are about days up to that of the first one. None repeats or leaves out a path that is visited
    meanwhile.
    """
    database, org_id = resources().database, caller().org_id
    await find_domain_settings(database, org_id, name)
    question = repr((name, query.get("from"), query.get("to")))
    place = _place_in(query, question)
    begun_at = place.begun_at if place else resources().clock()
    tomorrow = begun_at.date() + timedelta(days=1)
    end = query.get("to") or tomorrow
    found = await find_orphans(
        database,
        org_id,
        name,
        query.get("from") or end - _DAYS,
        min(end, tomorrow),
        settled_before=counts_from(begun_at),
    )
    page, following = page_behind(found.orphans, place, begun_at=begun_at, size=_AT_ONCE)
    shown = await with_nearest(database, org_id, name, page, resources().short_url_form)
    return {
        "orphans": [orphan_json(orphan, nearest) for orphan, nearest in shown],
        "next_cursor": _written(following, question) if following else None,
        "not_kept": not_kept_json(found.not_kept),
    }


@Operation(
    method="DELETE",
    path=_PATH,
    summary="Forget what people asked a domain for in vain",
    path_parameter=DOMAIN_NAME,
    needs=(Permission.SETTINGS_WRITE,),
    status=204,
)
async def remove_orphans(name: str) -> None:
    """Delete all that is kept of it. Counting goes on."""
    await find_domain_settings(resources().database, caller().org_id, name)
    await forget_orphans(resources().database, caller().org_id, name)


def _written(place: OrphanPlace, question: str) -> str:
    marks = "".join(sorted(place.marks))
    return write_cursor(question, int(place.begun_at.timestamp()), place.visits, place.path, marks)


def _place_in(query: dict[str, Any], question: str) -> OrphanPlace | None:
    """The place in the cursor of the query, if it has one. Raises ApiError for one made up elsewhere."""
    try:
        return _place(read_cursor(query["cursor"], question)) if "cursor" in query else None
    except RefusedCursor as error:
        raise query_error("cursor", str(error)) from None


def _place(values: list[Any]) -> OrphanPlace:
    match values:
        case [int(begun_at), int(visits), str(path), str(marks)] if (
            0 <= begun_at <= _LATEST
            and 0 < visits < _MOST_VISITS
            and _MARKS.fullmatch(marks)
            and not SURROGATE.search(path)
        ):
            each = range(0, len(marks), MARK_CHARACTERS)
            return OrphanPlace(
                datetime.fromtimestamp(begun_at, UTC),
                visits,
                path,
                frozenset(marks[at : at + MARK_CHARACTERS] for at in each),
            )
    raise RefusedCursor.unknown()
