"""GET /audit: who changed what of the organization's, and how it was before (docs/audit.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.audit.entries import entry_json
from backend.domain.feed.cursor import START
from backend.domain.fields.rules import Moment, Text
from backend.json_api import error_table
from backend.rest_api.feed.cursors import CursorRule, of_this_feed
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.audit.log import LogFilter, read_on
from backend.web.current import resources

_MOST = 1_000
_DEFAULT = 100


_QUERY = {
    "after": QueryParameter(
        CursorRule(), "Where to go on: the next_cursor of the answer before. Without it, from the beginning."
    ),
    "limit": QueryParameter(WholeNumber(1, _MOST, default=_DEFAULT), "Entries of an answer."),
    "actor": QueryParameter(Text(100), "Only of the person or key with this id, or of this kind of actor."),
    "action": QueryParameter(
        Text(100), "Only of this action, such as link.changed, or of this kind of target, such as link."
    ),
    "target": QueryParameter(Text(300), "Only of the target with this id."),
    "from": QueryParameter(Moment(), "Only from this time on."),
    "to": QueryParameter(Moment(), "Only before this time."),
}


@Operation(
    method="GET",
    path="/audit",
    summary="Read who changed what",
    needs=(Permission.AUDIT_READ,),
    query=_QUERY,
    answer="AuditLog",
    errors=(error_table.FEED_PUT_BACK,),
)
async def get_audit(query: dict[str, Any]) -> dict[str, Any]:
    """Entries of the audit log, the oldest first. An answer without entries has a cursor too: ask again later
    with it, and what has been done meanwhile comes.
    """
    chosen = LogFilter(
        query.get("actor"), query.get("action"), query.get("target"), query.get("from"), query.get("to")
    )
    after = query.get("after", START)
    limit = query.get("limit", _DEFAULT)
    async with of_this_feed("after"):
        page = await read_on(resources().database, caller().org_id, chosen, after, limit)
    return {"entries": [entry_json(entry) for entry in page.entries], "next_cursor": str(page.next_cursor)}
