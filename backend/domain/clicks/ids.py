"""Click ids: what a redirect appends as `cl_click_id`, so that a sale names the very click it came from.

An id has the click's time, a mark of the line that the click log has of it, the beginning of its link's id,
a mark of the variant that a split chose, and a signature over these and over whose click on which link it is.
So nothing more is stored of a click, an id names its link, and it is checked without looking for its click.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from uuid import UUID, uuid5

from backend.domain.clicks.clicks import Click, NotCounted, facts_fragment, milliseconds_in, record_line
from backend.domain.ids import DeviceId, LinkId, OrgId

_TIME_BYTES, _MARK_BYTES, _LINK_BYTES, _VARIANT_BYTES, _SIGNATURE_BYTES = 6, 4, 4, 2, 8
_PLACE_BYTES = _TIME_BYTES + _MARK_BYTES
_SIGNED_BYTES = _PLACE_BYTES + _LINK_BYTES + _VARIANT_BYTES
_LENGTH = (_SIGNED_BYTES + _SIGNATURE_BYTES) * 4 // 3
_LINK_DIGITS = _LINK_BYTES * 2
_NO_VARIANT = 0
_BROWSERS = UUID("5b3f0a52-6d1c-4f0e-9f43-0c6f3c1a7e58")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class ClickPlace:
    """Where a click of a link is in the ledger: when it happened, and the mark that tells it from others."""

    at: datetime
    mark: int


def click_id(key: bytes, org_id: OrgId, link_id: LinkId, line: bytes, *, variant: str | None = None) -> bytes:
    """The id of the click that has this line in the click log (`record_line`)."""
    place = milliseconds_in(line).to_bytes(_TIME_BYTES) + _mark(key, line)
    link = bytes.fromhex(link_id[:_LINK_DIGITS])
    signed = place + link + _variant_mark(variant).to_bytes(_VARIANT_BYTES)
    return base64.urlsafe_b64encode(signed + _signature(key, org_id, link_id, signed))


def read_click_id(key: bytes, org_id: OrgId, link_id: LinkId, text: str) -> ClickPlace | None:
    """The place that an id of a click on this link of the organization names; None for any other text."""
    read = _decoded(text)
    if read is None:
        return None
    signed = read[:_SIGNED_BYTES]
    if not hmac.compare_digest(read[_SIGNED_BYTES:], _signature(key, org_id, link_id, signed)):
        return None
    at = _EPOCH + int.from_bytes(read[:_TIME_BYTES]) * _MILLISECOND
    return ClickPlace(at, int.from_bytes(read[_TIME_BYTES:_PLACE_BYTES]))


def link_beginning(text: str) -> str | None:
    """How the id of the link that this id names begins, up to the first hyphen; None for what is no id.

    Nothing is checked: any text of the right length and characters names some link.
    """
    read = _decoded(text)
    return read[_PLACE_BYTES : _PLACE_BYTES + _LINK_BYTES].hex() if read else None


def variant_of(text: str, names: Iterable[str]) -> str | None:
    """The one of these variants that the click with this id led to; None if it led to none of them."""
    read = _decoded(text)
    mark = int.from_bytes(read[_SIGNED_BYTES - _VARIANT_BYTES : _SIGNED_BYTES]) if read else _NO_VARIANT
    return next((name for name in sorted(names) if _variant_mark(name) == mark), None)


def browser_of(org_id: OrgId, link_id: LinkId, place: ClickPlace) -> DeviceId:
    """The device id that stands for the unknown browser of a click: the same for the same click."""
    return DeviceId(str(uuid5(_BROWSERS, f"{org_id}/{link_id}/{_milliseconds(place.at)}/{place.mark}")))


def place_of(key: bytes, click: Click) -> ClickPlace:
    """The place of a click, also of one that no redirect gave an id."""
    return ClickPlace(click.at, int.from_bytes(_mark(key, _line(click))))


def is_at(key: bytes, click: Click, place: ClickPlace) -> bool:
    """Whether this is the click at the place."""
    return click.at == place.at and place_of(key, click) == place


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


def _decoded(text: str) -> bytes | None:
    if len(text) != _LENGTH:
        return None
    try:
        return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError:
        return None


def _variant_mark(variant: str | None) -> int:
    if variant is None:
        return _NO_VARIANT
    # The lowest bit is set, so that no variant has the mark that stands for no variant.
    return int.from_bytes(blake2b(variant.encode(), digest_size=_VARIANT_BYTES).digest()) | 1


def _mark(key: bytes, line: bytes) -> bytes:
    mark = _marking(key).copy()
    mark.update(line)
    return mark.digest()


def _signature(key: bytes, org_id: OrgId, link_id: LinkId, signed: bytes) -> bytes:
    signature = _signing(key).copy()
    signature.update(f"{org_id}/{link_id}/".encode() + signed)
    return signature.digest()


# To copy a hash with its key takes half as long as to make it anew. An installation has one key.
@lru_cache(maxsize=2)
def _marking(key: bytes) -> blake2b:
    return blake2b(digest_size=_MARK_BYTES, key=key, person=b"click mark")


@lru_cache(maxsize=2)
def _signing(key: bytes) -> blake2b:
    return blake2b(digest_size=_SIGNATURE_BYTES, key=key, person=b"click id")
