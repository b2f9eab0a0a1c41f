"""GET /invitations: links that apps made, and whom each of them brought."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Text
from backend.domain.fields.times.json_times import exact_time_json
from backend.domain.links.links import CreatedBy
from backend.domain.links.listing import NEWEST_FIRST, LinkFilter
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.list_cursor import ListCursor, cursor_in
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.analytics.brought_customers import Brought
from backend.storage.links.lists.invitations import ListedInvitation, list_invitations
from backend.storage.links.lists.listing import place_of
from backend.web.current import resources

DEFAULT_SIZE, MAX_SIZE = 20, 200
_QUESTION = repr((LinkFilter(created_by=CreatedBy.SDK), NEWEST_FIRST, "invitations"))
_QUERY = {
    "size": QueryParameter(WholeNumber(1, MAX_SIZE, default=DEFAULT_SIZE), "Invitations on a page."),
    "cursor": QueryParameter(Text(500), "The next_cursor of the page before."),
}


@Operation(
    method="GET",
    path="/invitations",
    summary="List the links that apps made, and whom each brought",
    needs=(Permission.ANALYTICS_READ, Permission.PERSONS_READ),
    query=_QUERY,
    answer="InvitationList",
    errors=(error_table.FIGURES_UNAVAILABLE,),
)
async def get_invitations(query: dict[str, Any]) -> dict[str, Any]:
    """One page of the links that apps made, the newest first, and the cursor of the next page."""
    size = query.get("size", DEFAULT_SIZE)
    cursor = cursor_in(query, _QUESTION, NEWEST_FIRST.order)
    found = await list_invitations(
        resources().database,
        resources().analytics,
        caller().org_id,
        now=resources().clock(),
        after=cursor.place if cursor else None,
        limit=size + 1,
    )
    page = found[:size]
    goes_on = len(found) > len(page)
    following = ListCursor(place=place_of(page[-1].link, NEWEST_FIRST.order)) if goes_on else None
    return {
        "invitations": [_json(invitation) for invitation in page],
        "next_cursor": following.write(_QUESTION) if following else None,
    }


def _json(invitation: ListedInvitation) -> dict[str, Any]:
    link = invitation.link
    return {
        "id": link.id,
        "external_id": link.external_id,
        "short_url": resources().short_url_form.write(link.domain, link.path),
        "link_name": link.link_name,
        "destination_url": link.destination_url,
        "custom_data": link.custom_data,
        "created_at": exact_time_json(link.created_at),
        "clicks": invitation.clicks,
        "opens": invitation.opens,
        "brought": invitation.brought.count,
        "customers": _customers(invitation.brought),
    }


def _customers(brought: Brought) -> list[dict[str, str]]:
    return [{"customer_id": customer, "came_at": exact_time_json(at)} for customer, at in brought.customers]
