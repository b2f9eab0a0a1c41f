"""Visits of apps: what an open by a link says of the installation, as the check of a page says it of a
browser."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid5

from backend.domain.apps.installs import AppOpen
from backend.domain.clicks.opens import LinkOpen
from backend.domain.ids import CallId, InstallId, OrgId
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from backend.domain.visitors.device_clock import LONGEST_DELAY, clock_of, counted_at
from backend.domain.visitors.sources import Source

# The field of an attribution check by which an open counts once.
OPEN_ID = "open_id"
_FIRST_LAUNCHES = UUID("0e4d8f6a-3b57-4c1e-9a2d-7f6c5b8e1d40")


def visit_of(
    opened: AppOpen,
    org_id: OrgId,
    received_at: datetime,
    *,
    source: Source | None,
    link_open: LinkOpen | None,
    retention_days: int | None,
) -> Batch:
    """The open, ready to be stored.

    `source` is where the installation's visit came from, None if there is no visit to keep; `link_open` is
    the click that the open is, None if it is none.
    """
    occurred_at, sent_at = _times(opened, received_at)
    call = Call(
        kind=Kind.ATTRIBUTION,
        call_id=opened.open_id or _first_launch(opened.install_id),
        occurred_at=occurred_at,
        page=None,
        customer_id=None,
        fields={OPEN_ID: opened.open_id} if link_open else {},
    )
    device_id = opened.device_id if source else None
    arrived = ArrivedCall(call, source, opened=link_open)
    return Batch(org_id, device_id, sent_at, received_at, (arrived,), retention_days)


def opened_at(opened: AppOpen, received_at: datetime) -> datetime:
    """When the app was opened, by the service's clock, of an installation of which no clock is known."""
    occurred_at, sent_at = _times(opened, received_at)
    if sent_at is None:
        return occurred_at
    return counted_at([occurred_at], sent_at, clock_of(sent_at, received_at, ()))[0]


def _times(opened: AppOpen, received_at: datetime) -> tuple[datetime, datetime | None]:
    """When it happened and when it was sent, by the app's clock; None if both are by the service's clock.

    An app that does not say when it sent a request is believed to have the right time.
    """
    if opened.sent_at:
        return opened.occurred_at or opened.sent_at, opened.sent_at
    occurred_at = opened.occurred_at or received_at
    is_believed = timedelta() <= received_at - occurred_at <= LONGEST_DELAY
    return occurred_at if is_believed else received_at, None


def _first_launch(install_id: InstallId) -> CallId:
    """The id of the first launch of an installation that gave it none: the same each time it is told."""
    return CallId(str(uuid5(_FIRST_LAUNCHES, install_id)))
