"""Which rule of a link decides for a visitor who is made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime

from backend.domain.links.links import Link
from backend.domain.links.rule_words import outcome_in_words
from backend.domain.links.rules import Circumstances, CompiledRules
from backend.domain.web.client import Client, ClientKind, Platform

# Of each platform a browser that many people have there.
_CLIENTS = {
    Platform.DESKTOP: Client(ClientKind.BROWSER, Platform.DESKTOP, "Windows", "Chrome"),
    Platform.IOS: Client(ClientKind.BROWSER, Platform.IOS, "iOS", "Mobile Safari"),
    Platform.ANDROID: Client(
        ClientKind.BROWSER, Platform.ANDROID, "Android", "Chrome Mobile", follows_intents=True
    ),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The rule that decided: its place from 1, None where none fits; and in words where the visitor goes."""

    number: int | None
    words: str


def try_rules(link: Link, given: Mapping[str, str], now: datetime) -> Trial:
    """What the link's rules do with a visitor as `given` says; what it does not say is usual, at `now`."""
    platform = given.get("try_platform", "")
    client = _CLIENTS[Platform(platform) if platform in set(Platform) else Platform.DESKTOP]
    visit = Circumstances(
        client=Client(
            client.kind,
            client.platform,
            given.get("try_system", "").strip() or client.system,
            given.get("try_browser", "").strip() or client.browser,
            client.follows_intents,
        ),
        at=_moment(given.get("try_at", "")) or now,
        country=given.get("try_country", "").strip().upper() or None,
        language=given.get("try_language", "").strip().lower() or None,
        query=given.get("try_query", "").strip(),
        is_returning=given.get("try_device") == "returning",
    )
    target = CompiledRules(link).target(visit)
    if target is None:
        return Trial(None, "the link's own destination, app and fallbacks decide")
    return Trial(target.number + 1, outcome_in_words(link.rules[target.number]))


def _moment(text: str) -> datetime | None:
    """A time of the form, in UTC where it names no zone; None if it is none."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if not 1 < moment.year < MAXYEAR:  # it can't be told in every time zone
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
