"""Reports: saved views, each with a URL by which anyone may open it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from backend.domain.ids import OrgId, ReportId
from backend.domain.reports.views import ReportView, ViewKind, read_view

# Of an organization. Two that are made at the same moment may exceed it.
MOST_REPORTS = 200


@dataclass(frozen=True, slots=True)
class Report:
    """A saved view of the organization's analytics.

    `query` is the JSON of a query (saved_query), and `kind` says what is shown of it. Whoever has `token`,
    which is part of the report's URL, may open the report until `expires_at`, with the password of
    `password_hash` if it has one. With `shows_notes`, its chart has the organization's notes. Pages of
    `embed_origins` may show it in a frame. `opened_at` is about when it was opened last.
    """

    id: ReportId
    org_id: OrgId
    name: str
    query: Mapping[str, Any]
    created_at: datetime
    token: str = field(repr=False)
    kind: ViewKind = ViewKind.TABLE
    shows_revenue: bool = False
    shows_notes: bool = False
    password_hash: str | None = field(default=None, repr=False)
    embed_origins: tuple[str, ...] = ()
    expires_at: datetime | None = None
    opened_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether nobody may open it any more."""
        return self.expires_at is not None and now >= self.expires_at

    def view_at(self, now: datetime, *, has_subscription: bool = True) -> ReportView:
        """What it shows at this time; without a subscription no installs.

        Raises InvalidField, which names a field of `query`: a period that ends today may have become too
        long.
        """
        return read_view(
            self.kind,
            self.query,
            now,
            shows_revenue=self.shows_revenue,
            has_subscription=has_subscription,
        )
