"""/audit: who changed what, when, and how it was before.

Who opens it: an owner who asks who changed a link, a key, a member or a setting, or whether somebody else was
signed in; and who reviews the organization's security. They decide whom to ask, what to undo, and what to
revoke.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from urllib.parse import urlencode

from quart import Response, request, url_for

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.audit.shown import ACTORS, KINDS, shown
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.actors import ActorKind
from backend.domain.accounts.permissions import Permission
from backend.domain.feed.cursor import Cursor, InvalidCursor
from backend.storage.accounts.api_keys import list_api_keys
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.users import list_users
from backend.storage.audit.log import LogFilter, read_back
from backend.web.current import resources

_AT_ONCE = 50
_LONGEST = 300
# What a moment can have next to it, in every zone.
_FIRST_YEAR, _LAST_YEAR = 1970, 9000
_FILTERS = ("actor", "action", "target", "from", "to")


@dataclass(frozen=True, slots=True)
class LogChoice:
    """What the address chooses: texts by the names of filters, without those that are not there."""

    texts: dict[str, str]

    def text(self, name: str) -> str:
        """The text of a filter; "" without it."""
        return self.texts.get(name, "")

    def address(self, **changes: str | None) -> str:
        """The address of the page with these changes, from the newest entry on."""
        texts = {name: text for name, text in (self.texts | changes).items() if text}
        return url_for("dashboard.audit") + (f"?{urlencode(texts)}" if texts else "")

    def filter(self, zone: tzinfo) -> LogFilter:
        """The entries that it chooses. Days are those of this zone."""
        last = _day(self.text("to"), zone)
        return LogFilter(
            self.texts.get("actor"),
            self.texts.get("action"),
            self.texts.get("target"),
            _day(self.text("from"), zone),
            last and last + timedelta(days=1),
        )


@dashboard.get("/audit")
@needs(Permission.AUDIT_READ)
async def audit() -> Response:
    """The entries that the address names, the newest first."""
    sent = {name: request.args.get(name, "").strip()[:_LONGEST] for name in _FILTERS}
    choice = LogChoice({name: text for name, text in sent.items() if text})
    zone = zone_of_browser()
    before = _cursor(request.args.get("before", ""))
    database = resources().database
    log = await read_back(database, org_id(), choice.filter(zone), before, _AT_ONCE)
    return await page(
        "audit/log.html",
        entries=[shown(entry, zone) for entry in log.entries],
        older=choice.address(before=str(log.next_cursor)) if log.has_more else "",
        is_first=before is None,
        choice=choice,
        actors=await _actors(),
        kinds=[("", "Everything"), *KINDS.items()],
        days=(await get_organization(database, org_id())).audit_days,
    )


async def _actors() -> list[tuple[str, str]]:
    """Whom one can choose: the values of the filter, and their names."""
    members = await list_users(resources().database, org_id())
    keys = await list_api_keys(resources().database, org_id())
    others = (kind for kind in ActorKind if kind not in {ActorKind.PERSON, ActorKind.KEY})
    return [
        ("", "Anybody"),
        *((member.id, member.email) for member in members),
        *((key.id, f"Key {key.name or key.hint}") for key in keys),
        *((kind.value, ACTORS[kind]) for kind in others),
    ]


def _day(text: str, zone: tzinfo) -> datetime | None:
    """The beginning of the day that is written as this text; None if it is none of a log."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime.combine(day, time(), zone) if _FIRST_YEAR <= day.year <= _LAST_YEAR else None


def _cursor(text: str) -> Cursor | None:
    try:
        return Cursor.parse(text)
    except InvalidCursor:
        return None
