"""Handles the calls of a request: parses them, finds their links, stores them, and returns their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.accounts.organizations import Organization
from backend.domain.clicks.ids import ClickPlace
from backend.domain.errors import InvalidField, MissingField
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import CallId, LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.sales.decisions import Result
from backend.domain.visitors.batches import ArrivedCall, Batch, Envelope
from backend.domain.visitors.calls import Call, Kind, parse_call
from backend.domain.visitors.rejections import UNKNOWN_KIND, Rejection, rejection_of
from backend.domain.visitors.sources import CLICK_SIGNAL, LINK_SIGNAL, Source, source_of
from backend.json_api.json_body import body_bytes
from backend.sdk_api.metrics import calls_of
from backend.sdk_api.service import SdkService
from backend.storage.links.links import find_links
from backend.storage.visitors.rejections import RejectedCalls

CallResult = dict[str, Any]
REJECTED = "rejected"
# What a site's developer reads in the console when init was called with `debug`.
UNKNOWN_CLICK = "cl_click_id is not the id of a click on this link; the visit counts without it"
UNKNOWN_LINK = "cl_link_id is not the id of a link of this organization; the visit counts without it"


@dataclass(frozen=True, slots=True)
class _Checked:
    """A call of a request: parsed, or rejected with its result and the reason."""

    call: Call | None
    rejected: CallResult
    rejection: Rejection | None = None


async def ingest(service: SdkService, organization: Organization, envelope: Envelope) -> list[CallResult]:
    """Store the valid calls of a request. Returns a result for each call, in order.

    Raises NotStored if nothing could be stored.
    """
    received_at = service.resources.clock()
    checked = [_check(value) for value in envelope.calls]
    calls = [checked_call.call for checked_call in checked if checked_call.call]
    sources = await _sources(service, organization.id, calls)
    arrived = [
        ArrivedCall(call, sources.get(call.call_id) if call.kind is Kind.ATTRIBUTION else None)
        for call in calls
    ]
    stored = await _store(service, organization, envelope, received_at, arrived)
    rejections = [checked_call.rejection for checked_call in checked if checked_call.rejection]
    await store_rejections(service, organization.id, received_at, rejections)
    answers = iter([_answer(call, result, sources) for call, result in zip(calls, stored, strict=True)])
    results = [next(answers) if checked_call.call else checked_call.rejected for checked_call in checked]
    for checked_call, result in zip(checked, results, strict=True):
        kind = checked_call.call.kind if checked_call.call else UNKNOWN_KIND
        calls_of(kind, result["status"]).inc()
    return results


def _check(value: object) -> _Checked:
    try:
        return _Checked(parse_call(value), {})
    except (InvalidField, MissingField) as error:
        call_id = value.get("call_id") if isinstance(value, dict) else None
        return _Checked(
            None,
            {
                "call_id": call_id if isinstance(call_id, str) and is_uuid(call_id) else None,
                "status": REJECTED,
                "error": {"errorMessage": str(error), "fieldName": error.field},
            },
            rejection_of(value, error),
        )


async def store_rejections(
    service: SdkService, org_id: OrgId, at: datetime, rejections: Sequence[Rejection]
) -> None:
    """Store rejections for the organization's owner. Raises NotStored if that fails."""
    if rejections:
        await service.rejections.add(RejectedCalls(org_id, at, tuple(rejections)), body_bytes())


async def _sources(service: SdkService, org_id: OrgId, calls: Iterable[Call]) -> dict[CallId, Source]:
    """The source of each attribution check's visit, by call id."""
    signals_by_call = {
        call.call_id: call.fields.get("signals", {}) for call in calls if call.kind is Kind.ATTRIBUTION
    }
    link_ids = {link_id for signals in signals_by_call.values() if (link_id := _link_id(signals))}
    links = await find_links(service.resources.database, link_ids, org_id)
    sources = {}
    for call_id, signals in signals_by_call.items():
        link = _link(signals, links)
        sources[call_id] = source_of(signals, link, await _click(service, signals, link))
    return sources


async def _click(service: SdkService, signals: dict[str, str], link: Link | None) -> ClickPlace | None:
    """The click on the link that the signals name. A forged id names none, nor does another link's."""
    text = signals.get(CLICK_SIGNAL)
    if not text or not link:
        return None
    return await service.resources.click_signing.place(link.org_id, link.id, text)


def _link(signals: dict[str, str], links: Mapping[LinkId, Link]) -> Link | None:
    link_id = _link_id(signals)
    return links.get(link_id) if link_id else None


def _link_id(signals: dict[str, str]) -> LinkId | None:
    text = signals.get(LINK_SIGNAL, "")
    return LinkId(text.lower()) if is_uuid(text) else None


async def _store(
    service: SdkService,
    organization: Organization,
    envelope: Envelope,
    received_at: datetime,
    arrived: Sequence[ArrivedCall],
) -> list[Result]:
    if not arrived:
        return []
    batch = Batch(
        org_id=organization.id,
        device_id=envelope.device_id,
        sent_at=envelope.sent_at,
        received_at=received_at,
        calls=tuple(arrived),
        retention_days=organization.retention_days,
    )
    return await service.commit.add(batch, body_bytes())


def _answer(call: Call, stored: Result, sources: dict[CallId, Source]) -> CallResult:
    # The status alone is sent: browsers must not read the record that counted before.
    result: CallResult = {"call_id": call.call_id, "status": stored.status.value}
    notes = [*call.notes]
    if call.kind is Kind.ATTRIBUTION:
        # A duplicate gets its context again: the answer to the first delivery may have been lost.
        source = sources[call.call_id]
        result["attribution"] = source.context()
        signals = call.fields.get("signals", {})
        if signals.get(LINK_SIGNAL) and source.link is None:
            notes.append(UNKNOWN_LINK)
        if signals.get(CLICK_SIGNAL) and source.click is None:
            notes.append(UNKNOWN_CLICK)
    return result | ({"notes": notes} if notes else {})
