"""Click ids: what a redirect appends as `cl_click_id`, so that a sale names the very click it came from.

An id has the click's time, a mark of the line that the click log has of it, and a signature over these and
over whose click on which link it is. So nothing more is stored of a click, and an id is checked without
looking for its click.
"""

from __future__ import annotations

import base64
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from backend.domain.clicks import Click, NotCounted, facts_fragment, record_line
from backend.domain.ids import LinkId, OrgId

_TIME_BYTES, _MARK_BYTES, _SIGNATURE_BYTES = 6, 4, 8
_LENGTH = (_TIME_BYTES + _MARK_BYTES + _SIGNATURE_BYTES) * 4 // 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class ClickPlace:
    """Where a click of a link is in the ledger: when it happened, and the mark that tells it from others."""

    at: datetime
    mark: int


def click_id(key: bytes, org_id: OrgId, link_id: LinkId, at: datetime, line: bytes) -> bytes:
    """The id of the click at this time that has this line in the click log (`record_line`)."""
    place = _milliseconds(at).to_bytes(_TIME_BYTES) + _mark(key, line)
    return base64.urlsafe_b64encode(place + _signature(key, org_id, link_id, place))


def read_click_id(key: bytes, org_id: OrgId, link_id: LinkId, text: str) -> ClickPlace | None:
    """The place that an id of a click on this link of the organization names; None for any other text."""
    if len(text) != _LENGTH:
        return None
    try:
        read = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError:
        return None
    place = read[: _TIME_BYTES + _MARK_BYTES]
    if not hmac.compare_digest(read[len(place) :], _signature(key, org_id, link_id, place)):
        return None
    at = _EPOCH + int.from_bytes(place[:_TIME_BYTES]) * _MILLISECOND
    return ClickPlace(at, int.from_bytes(place[_TIME_BYTES:]))


def is_at(key: bytes, click: Click, place: ClickPlace) -> bool:
    """Whether this is the click at the place."""
    return click.at == place.at and int.from_bytes(_mark(key, _line(click))) == place.mark


def _line(click: Click) -> bytes:
    """The line that the click log had of the click."""
    facts = facts_fragment(click.platform, click.system, click.browser, click.client_kind)
    return record_line(
        click.org_id,
        click.link_id,
        facts,
        at=click.at,
        outcome=click.outcome,
        reason=NotCounted(click.reason) if click.reason else None,
        country=click.country,
        referrer_host=click.referrer_host,
        visitor=click.visitor,
        variant=click.variant,
    )


def _milliseconds(at: datetime) -> int:
    # As the line has it, which is where a block gets a click's time from.
    return int(f"{at.timestamp():.3f}".replace(".", ""))


def _mark(key: bytes, line: bytes) -> bytes:
    return blake2b(line, digest_size=_MARK_BYTES, key=key, person=b"click mark").digest()


def _signature(key: bytes, org_id: OrgId, link_id: LinkId, place: bytes) -> bytes:
    named = f"{org_id}/{link_id}/".encode()
    return blake2b(named + place, digest_size=_SIGNATURE_BYTES, key=key, person=b"click id").digest()
