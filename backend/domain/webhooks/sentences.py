"""Sentences about events, for people who read them in a chat."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId
from backend.domain.webhooks.selection import link_of

_LONGEST = 80
_LONGEST_WHY = 500
_SPACES = re.compile(r"\s+")
# What chats make mentions and links of: @everyone, <!channel>, evil.example, https:...
_ACTIVE = re.compile(r"@|[./:<](?=\S)")
_BREAK = "\u200b"


@dataclass(frozen=True, slots=True)
class Sentence:
    """What happened, and through which short URL; "" if through none."""

    words: str
    short_url: str = ""

    @property
    def text(self) -> str:
        """All of it, with the short URL as people write it."""
        return f"{self.words} {self.shown_url}" if self.short_url else self.words

    @property
    def shown_url(self) -> str:
        """The short URL without its scheme."""
        return self.short_url.partition("://")[2]


def sentence_about(event: Event, short_urls: Mapping[LinkId, str]) -> Sentence:
    """What happened. `short_urls` are those of the links that are known."""
    words = _WORDS[event.type](event.data)
    if event.type in _OF_LINKS:
        return Sentence(words, event.data.get("link", {}).get("short_url", ""))
    link_id = link_of(event)
    short_url = short_urls.get(link_id, "") if link_id else ""
    if not short_url:
        return Sentence(words)
    return Sentence(f"{words} {_BEFORE_URL.get(event.type, 'through')}", short_url)


def harmless(text: object, longest: int = _LONGEST) -> str:
    """A stranger's text as one line of so many characters, in which chats find no mention and no link.

    Invisible spaces break mentions and links.
    """
    plain = "".join(char for char in str(text) if unicodedata.category(char)[0] != "C" or char.isspace())
    line = _SPACES.sub(" ", plain).strip()
    shortened = line if len(line) <= longest else f"{line[: longest - 1]}…"
    return _ACTIVE.sub(lambda match: f"{match[0]}{_BREAK}", shortened)


def _click(data: Mapping[str, Any]) -> str:
    where = f" from {harmless(data['country'])}" if data.get("country") else ""
    return f"New click{where}" if data.get("counted") else f"Click{where} that does not count,"


def _lead(data: Mapping[str, Any]) -> str:
    name = f": {harmless(data['name'])}," if data.get("name") else ""
    return f"{'More about a' if data.get('told_again') else 'New'} lead{name}"


def _conversion(data: Mapping[str, Any]) -> str:
    amount = f"{harmless_amount(data.get('revenue'))} {harmless(data.get('currency', ''))}".strip()
    return f"{'More about a' if data.get('told_again') else 'New'} sale of {amount}"


def _refund(data: Mapping[str, Any]) -> str:
    amount = f"{harmless_amount(data.get('amount'))} {harmless(data.get('currency', ''))}".strip()
    order = f" for order {harmless(data['transaction_id'])}" if data.get("transaction_id") else ""
    return f"Refund of {amount}{order}"


def _event(data: Mapping[str, Any]) -> str:
    return f"New event “{harmless(data.get('name', ''))}”"


def _identify(data: Mapping[str, Any]) -> str:
    customer = f"customer {harmless(data.get('customer_id', ''))}"
    if data.get("taken_back"):
        return f"A visitor is not {customer} after all"
    return f"A visitor was identified as {customer}"


def _install(data: Mapping[str, Any]) -> str:
    platform = {"ios": "iOS", "android": "Android"}.get(str(data.get("platform")), "an app")
    return f"New install on {platform}"


def _open(data: Mapping[str, Any]) -> str:
    return f"The app was opened{'' if data.get('counted') else ', which does not count,'}"


def _alert(data: Mapping[str, Any]) -> str:
    why = harmless(data.get("why", ""), _LONGEST_WHY).removesuffix(".")
    over = " is over" if data.get("ended_at") else ""
    return f"Alert “{harmless(data.get('rule_name', ''))}”{over}: {why}"


def _audit(data: Mapping[str, Any]) -> str:
    actor, target = data.get("actor") or {}, data.get("target") or {}
    name = f" – {harmless(target['name'])}" if target.get("name") else ""
    return f"{harmless(actor.get('name', ''))}: {harmless(data.get('action', ''))}{name}"


_AMOUNT = re.compile(r"[0-9]{1,30}([.][0-9]{1,30})?")


def harmless_amount(amount: object) -> str:
    """An amount of money, whose decimal point is left as it is; any other text is made harmless."""
    return str(amount) if _AMOUNT.fullmatch(str(amount)) else harmless(amount)


_BEFORE_URL = {EventType.CLICK: "on", EventType.ALERT: "– about"}
_OF_LINKS = frozenset({EventType.LINK_CREATED, EventType.LINK_CHANGED, EventType.LINK_ARCHIVED})
_WORDS: Mapping[EventType, Callable[[Mapping[str, Any]], str]] = {
    EventType.LINK_CREATED: lambda _: "New link",
    EventType.LINK_CHANGED: lambda _: "Somebody changed the link",
    EventType.LINK_ARCHIVED: lambda _: "Somebody archived the link",
    EventType.CLICK: _click,
    EventType.LEAD: _lead,
    EventType.CONVERSION: _conversion,
    EventType.REFUND: _refund,
    EventType.EVENT: _event,
    EventType.IDENTIFY: _identify,
    EventType.INSTALL: _install,
    EventType.OPEN: _open,
    EventType.ERASED: lambda _: "Everything about a person was erased",
    EventType.ALERT: _alert,
    EventType.AUDIT: _audit,
}
