"""Tries a link's rules with a made-up visitor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime

from backend.domain.links.destinations.compiled_rules import CompiledRules
from backend.domain.links.links import Link
from backend.domain.links.rules.conditions import Circumstances
from backend.domain.links.rules.words import outcome_in_words
from backend.domain.web.client import Client, ClientKind, Platform

# A common browser of each platform.
_CLIENTS = {
    Platform.DESKTOP: Client(ClientKind.BROWSER, Platform.DESKTOP, "Windows", "Chrome"),
    Platform.IOS: Client(ClientKind.BROWSER, Platform.IOS, "iOS", "Mobile Safari"),
    Platform.ANDROID: Client(
        ClientKind.BROWSER, Platform.ANDROID, "Android", "Chrome Mobile", follows_intents=True
    ),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The rule that decided, by its place from 1 (None if none matched), and in words where it leads."""

    number: int | None
    words: str


def try_rules(link: Link, form_fields: Mapping[str, str], now: datetime) -> Trial:
    """Try the rules with the visitor of the form. Empty fields stand for a common visitor at `now`."""
    platform = form_fields.get("try_platform", "")
    client = _CLIENTS[Platform(platform) if platform in set(Platform) else Platform.DESKTOP]
    visit = Circumstances(
        client=Client(
            client.kind,
            client.platform,
            form_fields.get("try_system", "").strip() or client.system,
            form_fields.get("try_browser", "").strip() or client.browser,
            client.follows_intents,
        ),
        at=_moment(form_fields.get("try_at", "")) or now,
        country=form_fields.get("try_country", "").strip().upper() or None,
        language=form_fields.get("try_language", "").strip().lower() or None,
        query=form_fields.get("try_query", "").strip(),
        is_returning=form_fields.get("try_device") == "returning",
    )
    target = CompiledRules(link).target(visit)
    if target is None:
        return Trial(None, "the link's own destination, app and fallbacks decide")
    return Trial(target.number + 1, outcome_in_words(link.rules[target.number]))


def _moment(text: str) -> datetime | None:
    """A time of the form, in UTC if it names no zone; None if the text is no time."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if not 1 < moment.year < MAXYEAR:  # other years can't be converted to every time zone
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
