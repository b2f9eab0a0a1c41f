"""/invitations: links that apps made, who invited by them, and whom each brought.

Who opens it: whoever decides whether inviting is worth a reward, and who gets one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quart import Response, request

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.links.listing import NEWEST_FIRST
from backend.storage.links.lists.invitations import list_invitations
from backend.storage.links.lists.listing import ListPlace, place_of
from backend.web.current import resources

PER_PAGE = 50
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation as the page shows it: `inviter` are its own data, by name; `more` customers have no name
    in the row."""

    link: Link
    made: str
    inviter: list[tuple[str, str]]
    clicks: int
    opens: int
    brought: int
    customers: list[str]

    @property
    def more(self) -> int:
        """How many of those whom it brought are not named."""
        return self.brought - len(self.customers)


@dashboard.get("/invitations")
@needs(Permission.ANALYTICS_READ)
async def apps_invitations() -> Response:
    """The links that apps made, the newest first, with whom each brought."""
    return await page("links/invitations.html", later=_content)


async def _content() -> dict[str, Any]:
    found = await list_invitations(
        resources().database,
        resources().analytics,
        org_id(),
        now=resources().clock(),
        after=_after(),
        limit=PER_PAGE + 1,
    )
    zone, sees_persons = zone_of_browser(), Permission.PERSONS_READ in permissions()
    rows = [
        InvitationRow(
            link=invitation.link,
            made=invitation.link.created_at.astimezone(zone).strftime("%-d %b %Y"),
            inviter=[(name, _text(value)) for name, value in (invitation.link.custom_data or {}).items()],
            clicks=invitation.clicks,
            opens=invitation.opens,
            brought=invitation.brought.count,
            customers=[
                customer for customer, _ in invitation.brought.customers[:_MOST_NAMED] if sees_persons
            ],
        )
        for invitation in found[:PER_PAGE]
    ]
    last = place_of(rows[-1].link, NEWEST_FIRST.order) if len(found) > PER_PAGE else None
    following = {"after": last[0].isoformat(), "id": last[1]} if last else None
    return {"rows": rows, "following": following}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _after() -> ListPlace | None:
    """The place in the address; None if it names none."""
    try:
        made_at = datetime.fromisoformat(request.args["after"])
    except (KeyError, ValueError):
        return None
    return (made_at, LinkId(request.args.get("id", ""))) if made_at.tzinfo else None
