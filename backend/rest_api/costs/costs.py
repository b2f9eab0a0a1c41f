"""/costs: what campaigns cost, by day (docs/costs.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.costs.cost import MOST_AT_ONCE
from backend.domain.costs.input import CampaignName, CostList, Day
from backend.domain.costs.json_form import cost_json
from backend.domain.fields.rules import Text
from backend.json_api import error_table
from backend.json_api.json_body import EXACT
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter, QueryParameter
from backend.storage.analytics.told_names import say_unknown
from backend.storage.costs import costs
from backend.web.current import resources

_PATH = "/costs"
_ID = PathParameter(
    "costId", {"type": "string"}, "The cost's id, as the list has it.", errors=(error_table.COST_NOT_FOUND,)
)
_MANY = BodyFields({"costs": CostList()}, required=("costs",), most_bytes=2 * 1024 * 1024, reader=EXACT)
_QUERY = {
    "from": QueryParameter(Day(), "Only costs of this day or later ones."),
    "to": QueryParameter(Day(), "Only costs of earlier days."),
    "campaign": QueryParameter(CampaignName(), "Only costs of this campaign."),
    "cursor": QueryParameter(Text(64), "The next_cursor of the answer before."),
}


@Operation(
    method="GET",
    path=_PATH,
    summary="List what campaigns cost",
    needs=(Permission.ANALYTICS_READ,),
    query=_QUERY,
    answer="CostList",
)
async def get_costs(query: dict[str, Any]) -> dict[str, Any]:
    """Up to 1,000 costs, the latest day first, then by campaign. `next_cursor` leads to the next ones."""
    chosen = costs.CostFilter(query.get("from"), query.get("to"), query.get("campaign"))
    listed = await costs.list_costs(
        resources().database,
        caller().org_id,
        chosen,
        limit=MOST_AT_ONCE + 1,
        after=query.get("cursor"),
    )
    page = listed[:MOST_AT_ONCE]
    cursor = page[-1].told.id if len(listed) > len(page) else None
    return {"costs": [cost_json(cost) for cost in page], "next_cursor": cursor}


@Operation(
    method="PUT",
    path=_PATH,
    summary="Tell what campaigns cost",
    needs=(Permission.COSTS_WRITE,),
    body=_MANY,
    answer="ToldCosts",
)
async def put_costs(fields: dict[str, Any]) -> dict[str, Any]:
    """Tell up to 1,000 costs. The amount of a campaign, day and currency that is told last is what counts.

    All are stored, or, if one breaks a rule, none. So a request may be repeated as it is. `notes` names
    campaigns that no link and no visit has, each with the one that it is most like.
    """
    given, org_id = fields["costs"], caller().org_id
    told = await costs.tell_costs(resources().database, org_id, given, resources().clock())
    unknown = await say_unknown(resources().analytics, org_id, (cost.campaign for cost in given))
    notes = [f"{campaign}: {words}" for campaign, words in unknown.items()]
    return {"new": told.new, "replaced": told.replaced, "unchanged": told.unchanged, "notes": notes}


@Operation(
    method="DELETE",
    path=f"{_PATH}/<cost_text>",
    summary="Delete a cost",
    needs=(Permission.COSTS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_cost(cost_text: str) -> None:
    """Delete what was told of a campaign, day and currency. It is not known then, which is not 0."""
    await costs.delete_cost(resources().database, caller().org_id, cost_text)
