"""POST /analytics/funnel (docs/rest-api.md, "Funnels")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.answer import funnel_answer_json
from backend.domain.analytics.funnels.input import parse_funnel_query
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.rest_api.analytics.query import MOST_BYTES
from backend.rest_api.funnels.schemas import FUNNEL_QUERY
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.operation import Operation
from backend.storage.analytics.query_questions import AskFunnel
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources


@Operation(
    method="POST",
    path="/analytics/funnel",
    summary="Ask how many go on from one step to the next, and how long it takes",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=FUNNEL_QUERY,
    answer="FunnelAnswer",
    errors=(error_table.FIELD_MISSING, error_table.FIGURES_UNAVAILABLE),
)
async def ask_funnel() -> dict[str, Any]:
    """How many did each step of a funnel, how long it took them, and how many stopped there."""
    query = parse_funnel_query(await read_json_object(MOST_BYTES), resources().clock())
    within = replace(query, funnel=replace(query.funnel, reach=reach()))
    lift_deadline()
    answer = await resources().analytics.ask(caller().org_id, AskFunnel(within))
    return funnel_answer_json(answer, resources().short_url_form)
