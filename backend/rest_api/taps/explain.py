"""GET /links/{id}/taps: what a tap on a link does on every phone."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema
from backend.domain.ids import LinkId
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.input import apply_changes
from backend.domain.links.links import Behavior
from backend.domain.taps.json_form import tap_json
from backend.domain.taps.tap import differences
from backend.rest_api.links.reference import LINK_ID, own_link
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.storage.links.tap_lab import Known, open_lab
from backend.web.current import resources


class _BehaviorText:
    """A behaviour in a query string: 1 or 2."""

    def parse(self, field: str, value: object) -> Behavior:
        """The behaviour. Raises InvalidField."""
        if value not in {"1", "2"}:
            raise InvalidField(field, "must be 1 (open in browser) or 2 (open in app)")
        return Behavior(int(str(value)))

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": 1, "maximum": 2}


_QUERY = {
    name: QueryParameter(_BehaviorText(), f"What taps would do if the link had this {name}.")
    for name in ("ios_behavior", "android_behavior")
}


@Operation(
    method="GET",
    path="/links/<link:link_text>/taps",
    summary="Get what a tap on the link does on every phone, and why",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    path_parameter=LINK_ID,
    query=_QUERY,
    answer="ExplainedTaps",
)
async def get_taps(link_id: LinkId, query: dict[str, Any]) -> dict[str, Any]:
    """By Apple's and Google's published rules, with the files that the domain answers now."""
    database, now = resources().database, resources().clock()
    link = await own_link(link_id)
    changes = {name: value for name, value in query.items() if value is not None}
    is_blocked = leads_to(link, resources().block_list.current)
    known = Known(resources().short_url_form, now, is_blocked, in_app_browsers=resources().in_app_browsers)
    stored = [*(await open_lab(database, link, known)).taps()]
    lab = await open_lab(database, apply_changes(link, changes, now), known)
    taps = [*lab.taps()]
    changed = {new.situation for _, new in differences(stored, taps)}
    return {
        "short_url": lab.short_url,
        "taps": [{**tap_json(tap), "differs": tap.situation in changed} for tap in taps],
    }
