"""Batches: the body of one request from the browser SDK (decisions, "wire format")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.clicks.opens import LinkOpen
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Moment, Text, Uuid
from backend.domain.ids import DeviceId, InstallId, OrgId
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.call_fields import notes_on_unknown
from backend.domain.visitors.calls import Call
from backend.domain.visitors.sources import Source

MOST_CALLS = 50
_SDK, _UUID, _MOMENT = Text(64), Uuid(), Moment()
_FIELDS = frozenset({"api_key", "sdk", "sent_at", "calls", "erase"})
_FLAG = Flag()


@dataclass(frozen=True, slots=True)
class Envelope:
    """A request from the SDK or from an app, with a valid key. Its calls are not parsed yet.

    An app's `device_id` is its installation, whose id is `install_id` besides. With `erase` it
    has no calls: its visitor has withdrawn consent. `notes` are sentences that say which fields were left
    out.
    """

    device_id: DeviceId
    sent_at: datetime
    calls: list[Any]
    notes: tuple[str, ...] = ()
    erase: bool = False
    install_id: InstallId | None = None


@dataclass(frozen=True, slots=True)
class ArrivedCall:
    """A valid call.

    An attribution check also has the source of its visit. A call for which a server named a click has the
    visit that followed the click. `unknown_browser` is a device id that stands for the browser of that visit,
    if nothing is known of the browser but the call's customer. The attribution check of an app that a link
    opened may have the open, which is a click besides.
    """

    call: Call
    source: Source | None = None
    visit: Touch | None = None
    unknown_browser: DeviceId | None = None
    opened: LinkOpen | None = None

    def touches_at(self, at: datetime) -> datetime | None:
        """When the touch happened that the call, counting at this time, adds to the device, if any."""
        if self.visit:
            return self.visit.at
        return at if self.source is not None and not self.source.is_organic else None


@dataclass(frozen=True, slots=True)
class Batch:
    """The valid calls of one request of the SDK, or one call of a server or an app, ready to be stored.

    `sent_at` is a time by the device's clock, `received_at` by the service's. Calls of servers have no
    `sent_at`, since their times need no correction, and they need no device. `retention_days` is for how many
    days the organization keeps data about visitors, as far as is known; None means without limit.
    """

    org_id: OrgId
    device_id: DeviceId | None
    sent_at: datetime | None
    received_at: datetime
    calls: tuple[ArrivedCall, ...]
    retention_days: int | None = None


def parse_envelope(body: Mapping[str, Any], *, is_of_app: bool = False) -> Envelope:
    """Read the body of a request, but not its calls. An app has `install_id` in the place of `device_id`.

    Unknown fields are left out. Raises InvalidField for the first field that breaks a rule.
    """
    own_id = "install_id" if is_of_app else "device_id"
    _SDK.parse("sdk", body.get("sdk"))
    erase = "erase" in body and _FLAG.parse("erase", body["erase"])
    device_id = DeviceId(_UUID.parse(own_id, body.get(own_id)))
    return Envelope(
        device_id=device_id,
        sent_at=_MOMENT.parse("sent_at", body.get("sent_at")),
        calls=_no_calls(body.get("calls", [])) if erase else _calls(body.get("calls")),
        notes=tuple(notes_on_unknown([name for name in body if name not in _FIELDS | {own_id}])),
        erase=erase,
        install_id=InstallId(device_id) if is_of_app else None,
    )


def _no_calls(value: object) -> list[Any]:
    if value != []:
        raise InvalidField("calls", "must be empty or left out beside `erase`")
    return []


def _calls(value: object) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_CALLS:
        raise InvalidField("calls", f"must be an array of 1 to {MOST_CALLS} calls")
    return value
