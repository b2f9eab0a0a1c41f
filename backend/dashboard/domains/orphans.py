"""/domains/<domain>/orphans: what people asked a domain for and no link has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.orphans import MOST_PATHS_A_DAY, NotKept, Orphan
from backend.domain.errors import FieldError
from backend.domain.fields.rules import LinkPath
from backend.storage.accounts.domains import is_domain_of
from backend.storage.links.nearest import with_nearest
from backend.storage.links.orphans import find_orphans, forget_orphans
from backend.web.current import resources

_DAYS = timedelta(days=30)
_MOST_SHOWN = 100
_REASONS = {
    NotKept.PROBE: "asked for what scanners ask every server for",
    NotKept.UNREADABLE: "had a path that is too long, or has an @",
    NotKept.TOO_MANY: f"came on a day that had {MOST_PATHS_A_DAY} other paths",
}


@dataclass(frozen=True, slots=True)
class OrphanRow:
    """A path in the list. `nearest` is the short URL of the link that is most like it, if one is."""

    orphan: Orphan
    nearest: str | None

    @property
    def can_be_link(self) -> bool:
        """Whether a link may have this path."""
        try:
            return bool(LinkPath().parse("path", self.orphan.path))
        except FieldError:
            return False


@dashboard.get("/domains/<domain>/orphans")
@needs(Permission.ANALYTICS_READ)
async def domains_orphans(domain: str) -> Response:
    """The paths of the last 30 days, those of most visits first."""
    await _check_owner(domain)
    database = resources().database
    end = resources().clock().date() + timedelta(days=1)
    found = await find_orphans(database, org_id(), domain, end - _DAYS, end)
    shown = found.orphans[:_MOST_SHOWN]
    rows = await with_nearest(database, org_id(), domain, shown, resources().short_url_form)
    return await page(
        "domains/orphans.html",
        domain=domain,
        rows=[OrphanRow(orphan, nearest) for orphan, nearest in rows],
        more=len(found.orphans) - len(rows),
        not_kept=[
            (found.not_kept[reason], text) for reason, text in _REASONS.items() if reason in found.not_kept
        ],
    )


@dashboard.post("/domains/<domain>/orphans/forget")
@needs(Permission.SETTINGS_WRITE)
async def domains_forget_orphans(domain: str) -> Response:
    """Delete all that is kept of them."""
    await _check_owner(domain)
    await forget_orphans(resources().database, org_id(), domain)
    return redirect_with_notice("domains_orphans", "orphans-forgotten", domain=domain)


async def _check_owner(domain: str) -> None:
    if not await is_domain_of(resources().database, domain, org_id()):
        abort(404)
