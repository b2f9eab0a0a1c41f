"""POST /analytics (contract, "Click analytics")."""

from __future__ import annotations

from backend.current import resources
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.refusal import Refusal
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.link_reference import find_by_id_or_short_url
from backend.rest_api.representations import click_counts_json
from backend.storage.click_counts import count_window


@rest.post("/analytics")
async def click_analytics() -> dict[str, int]:
    """How often a link was clicked."""
    link = await find_by_id_or_short_url(await read_json_object(), caller().org_id)
    if link is None:
        raise Refusal(error_table.LINK_DETAILS_UNKNOWN)
    return click_counts_json(await count_window(resources().database, link.id, resources().clock()))
