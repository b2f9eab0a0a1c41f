"""Clicks: a record of each answered request for a short URL, and whether it counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from backend.domain.apps.deferred_links import Handoff
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.web.client import Client


class NotCounted(StrEnum):
    """Why a recorded request does not count as a click (decisions, "what counts as a click")."""

    HEAD = "head"
    PREFETCH = "prefetch"
    CRAWLER = "crawler"
    PREVIEW_FETCHER = "preview_fetcher"
    DISABLED = "disabled"
    NOT_STARTED = "not_started"
    EXPIRED = "expired"
    PASSWORD = "password"  # noqa: S105 - the name of a reason
    NOT_CONTINUED = "not_continued"
    HELD = "held"


# To name a member of an enumeration takes Python 3.11 longer than to compare it.
_NOT_FOUND, _HELD = Outcome.NOT_FOUND, Outcome.HELD


def why_not_counted(outcome: Outcome, method: str, is_prefetch: bool, client: Client) -> NotCounted | None:
    """Why a request for an existing link does not count as a click; None if it counts."""
    if outcome is _NOT_FOUND:
        return NotCounted.DISABLED
    if outcome is _HELD:
        return NotCounted.HELD
    if method == "HEAD":
        return NotCounted.HEAD
    if is_prefetch:
        return NotCounted.PREFETCH
    return NotCounted(client.kind.value) if client.kind.is_automatic else None


@dataclass(frozen=True, slots=True)
class Click:
    """A record of a request.

    `visitor` tells the visitors of one day apart (`visitor_hash`). It is None if the request does not count,
    and if the day's key or the address was not known. `variant` is the part of a split that decided.
    `handoff` is set only if the visitor was sent to an app. It is stored apart from the click, and only for
    as long as it is useful.
    """

    org_id: OrgId
    link_id: LinkId
    at: datetime
    counted: bool
    reason: str | None
    outcome: Outcome
    platform: str
    system: str | None
    browser: str | None
    client_kind: str
    country: str | None
    referrer_host: str | None
    visitor: int | None = None
    variant: str | None = None
    handoff: Handoff | None = None


def client_fragment(client: Client) -> str:
    """The part of a record line that describes the client. It is always the same, so callers can cache it."""
    return facts_fragment(client.platform.value, client.system, client.browser, client.kind.value)


def facts_fragment(platform: str, system: str | None, browser: str | None, kind: str) -> str:
    """The same as `client_fragment`, from what a click keeps of its client."""
    return json.dumps([platform, system, browser, kind], ensure_ascii=True, separators=(",", ":"))[1:-1]


def record_line(
    org_id: OrgId,
    link_id: LinkId,
    client: str,
    *,
    at: datetime,
    outcome: Outcome,
    reason: NotCounted | None,
    country: str | None,
    referrer_host: str | None,
    visitor: int | None = None,
    variant: str | None = None,
    handoff: Handoff | None = None,
) -> bytes:
    """One line of a click log. `client` is the result of `client_fragment`.

    Built by hand for speed, since it runs for every redirect. Text from outside is in the fragment, or is
    encoded by json, or can only contain characters of an id, a host name or a country code.
    """
    country_text = f'"{country}"' if country else "null"
    referrer = f'"{referrer_host}"' if referrer_host else "null"
    reason_text = f'"{reason}"' if reason else "null"
    visitor_text = "null" if visitor is None else visitor
    rest = f",{_more_text(variant)}" if variant is not None else ""
    rest += f",{_handoff_text(handoff)}" if handoff else ""
    return (
        f'["{org_id}","{link_id}",{at.timestamp():.3f},"{outcome}",{reason_text},{client},'
        f"{country_text},{referrer},{visitor_text}{rest}]\n"
    ).encode("ascii")


def milliseconds_in(line: bytes) -> int:
    """The time of the click in a record line, in milliseconds since 1970."""
    return int(line.split(b",", 3)[2].replace(b".", b""))


def parse_record(line: bytes) -> Click:
    """The click in a record line. Raises ValueError for anything that is not a valid line."""
    try:
        return _parse(line)
    except (OverflowError, RecursionError) as error:  # a time out of range, too many levels
        raise ValueError("not a click record") from error


def _parse(line: bytes) -> Click:
    # Decoded here: json would first detect the encoding, which takes longer than everything else.
    fields = json.loads(line.decode("ascii"))
    if b"\\u" in line:
        _refuse_half_characters(fields)
    match fields:
        case [
            str(org), str(link), float(at), str(outcome), None | str() as reason,
            str(platform), None | str() as system, None | str() as browser, str(kind),
            None | str() as country, None | str() as referrer, *rest,
        ]:  # fmt: skip
            visitor, variant, handoff = _parse_rest(rest)
            return Click(
                org_id=OrgId(org),
                link_id=LinkId(link),
                at=datetime.fromtimestamp(at, UTC),
                counted=reason is None,
                reason=reason,
                outcome=Outcome(outcome),
                platform=platform,
                system=system,
                browser=browser,
                client_kind=kind,
                country=country,
                referrer_host=referrer,
                visitor=visitor,
                variant=variant,
                handoff=handoff,
            )
    raise ValueError("not a click record")


def _refuse_half_characters(fields: Any) -> None:
    """Raise ValueError for a lone surrogate: JSON can escape it, but it can't be stored."""
    json.dumps(fields, ensure_ascii=False).encode()


def _handoff_text(handoff: Handoff) -> str:
    return json.dumps([handoff.app_id, handoff.address_hash, handoff.expires_at.timestamp()])


def _more_text(variant: str) -> str:
    """The fields that only some clicks have, as a JSON object."""
    return json.dumps({"variant": variant})


def _parse_rest(rest: list[Any]) -> tuple[int | None, str | None, Handoff | None]:
    """Visitor, variant and handoff. Raises ValueError."""
    visitor, rest = _parse_visitor(rest[0] if rest else ""), rest[1:]
    if rest and isinstance(rest[0], dict):
        return visitor, variant_in(rest[0]), _parse_handoff(rest[1:])
    return visitor, None, _parse_handoff(rest)


def variant_in(more: dict[str, Any]) -> str | None:
    """The variant among the fields that only some clicks have. Raises ValueError if it is not a text."""
    variant = more.get("variant")
    if variant is not None and not isinstance(variant, str):
        raise ValueError("not a variant's name")
    return variant


def _parse_visitor(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= HIGHEST_HASH):
        return value
    raise ValueError("not a visitor's hash")


def _parse_handoff(rest: list[Any]) -> Handoff | None:
    match rest:
        case [[str(app_id), str(address_hash), float(expires_at)]]:
            return Handoff(app_id, address_hash, datetime.fromtimestamp(expires_at, UTC))
    return None
