"""The people whom a number of a funnel counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.analytics.answer import RowKind
from backend.domain.ids import CustomerId, DeviceId, LinkId


@dataclass(frozen=True, slots=True)
class FunnelGroupKey:
    """What a group of a funnel is of: as in FunnelGroup, its value and kind."""

    value: str | None
    kind: RowKind | None = None


@dataclass(frozen=True, slots=True)
class FunnelPart:
    """Who did the step of this number and all before it; with `stopped`, only who did no later one.

    With `group`, only those of that group.
    """

    step: int
    stopped: bool = False
    group: FunnelGroupKey | None = None


@dataclass(frozen=True, slots=True)
class FunnelPerson:
    """Somebody, by the names that are known, with the times of the steps that they did.

    A device has the `customer_id` that it was told of last. `link_id` and `link_name` are of the first step,
    if a link led to it, and `transaction_id` is that of the last step where it is a sale.
    """

    customer_id: CustomerId | None
    device_id: DeviceId | None
    times: Sequence[datetime]
    link_id: LinkId | None
    link_name: str | None
    transaction_id: str | None
