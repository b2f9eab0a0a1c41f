"""/domains/{name}/orphans: what people asked a domain for and no link has."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.costs.input import Day
from backend.domain.domains.json_form import not_kept_json, orphan_json
from backend.domain.domains.orphans import LONGEST_PATH, Orphan
from backend.domain.fields.rules import Text
from backend.rest_api.domains.domains import DOMAIN_NAME, ONE
from backend.rest_api.routes.blueprint import caller
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
_CURSOR = re.compile(r"(\d{1,15}) (.+)")
_QUERY = {
    "from": QueryParameter(Day(), "The first day, in UTC.", default="30 days before to"),
    "to": QueryParameter(Day(), "The day after the last one.", default="tomorrow"),
    "cursor": QueryParameter(Text(LONGEST_PATH + 20), "The next_cursor of the answer before."),
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

    Bots are not counted. Visits of the last seconds are not there yet. Paths are kept for 90 days.
    """
    database, org_id = resources().database, caller().org_id
    await find_domain_settings(database, org_id, name)
    end = query.get("to") or resources().clock().date() + timedelta(days=1)
    found = await find_orphans(database, org_id, name, query.get("from") or end - _DAYS, end)
    behind = _behind(found.orphans, query.get("cursor"))
    page = behind[:_AT_ONCE]
    shown = await with_nearest(database, org_id, name, page, resources().short_url_form)
    last = page[-1] if len(behind) > len(page) else None
    return {
        "orphans": [orphan_json(orphan, nearest) for orphan, nearest in shown],
        "next_cursor": f"{last.visits} {last.path}" if last else None,
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


def _behind(orphans: list[Orphan], cursor: str | None) -> list[Orphan]:
    """Those behind the place of the cursor. Raises ApiError for one that was not answered here."""
    if cursor is None:
        return orphans
    place = _CURSOR.fullmatch(cursor)
    if place is None:
        raise query_error("cursor", "is not one that was answered here")
    last = (-int(place[1]), place[2])
    return [orphan for orphan in orphans if (-orphan.visits, orphan.path) > last]
