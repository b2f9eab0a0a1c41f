"""Webhooks and their deliveries in words, with times in the reader's time zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from backend.dashboard.analytics.time_zone import time_in_words, zone_of_browser
from backend.dashboard.frame.blueprint import org_id
from backend.domain.durations import duration_words
from backend.domain.feed.events import EventType
from backend.domain.ids import EndpointId, TagId
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import Endpoint, EndpointState, Form
from backend.storage.feed.reading import waits_since
from backend.storage.webhooks.chosen_tags import tag_names
from backend.web.current import resources

TYPES = {
    EventType.CLICK: "Clicks",
    EventType.LEAD: "Leads",
    EventType.CONVERSION: "Conversions",
    EventType.REFUND: "Refunds",
    EventType.EVENT: "Events of your own",
    EventType.IDENTIFY: "Customers who are identified",
    EventType.INSTALL: "Installs of apps",
    EventType.OPEN: "Opens of apps",
    EventType.LINK_CREATED: "New links",
    EventType.LINK_CHANGED: "Changes of links",
    EventType.LINK_ARCHIVED: "Links that are archived",
    EventType.ERASED: "Erasures of personal data",
    EventType.ALERT: "Alerts",
    EventType.AUDIT: "The audit log, for who may read it",
}
FORMS = {
    Form.JSON: "Signed JSON, for a program",
    Form.SLACK: "Message for Slack",
    Form.DISCORD: "Message for Discord",
    Form.TEAMS: "Message for Teams",
}
_STATES = {
    EndpointState.ACTIVE: ("good", "Works"),
    EndpointState.FAILING: ("warn", "Fails"),
    EndpointState.SLEEPING: ("bad", "Sleeps"),
    EndpointState.DISABLED: ("", "Paused"),
}
_NEVER_TRIED = ("good", "Ready")
_MOST_NAMED = 3
_MINUTE = timedelta(minutes=1)
# A webhook's cursor is stored once in this time, also while nothing waits.
_CURSOR_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ShownWebhook:
    """A webhook in words. `kind` is the colour of its `state`, and `words` explain a state that is not good.

    `scope` names the links whose events it gets ("" for all), and `behind` the time up to which it has them.
    """

    id: EndpointId
    url: str
    host: str
    kind: str
    state: str
    words: str
    is_enabled: bool
    is_asleep: bool
    events: str
    scope: str
    form: str
    batch: str
    behind: str
    made: str


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """An attempt to deliver events, in words. `error` is "" if they arrived."""

    time: str
    is_good: bool
    answer: str
    error: str
    events: str
    attempt: int
    took: str


async def shown_webhooks(endpoints: Sequence[Endpoint]) -> list[ShownWebhook]:
    """These endpoints of the organization, in words."""
    database, now, zone = resources().database, resources().clock(), zone_of_browser()
    tags = await tag_names(database, org_id(), endpoints)
    waiting = [await waits_since(database, org_id(), endpoint.cursor) for endpoint in endpoints]
    return [
        _shown(endpoint, tags, _behind(endpoint, since, now, zone), now, zone)
        for endpoint, since in zip(endpoints, waiting, strict=True)
    ]


def shown_delivery(delivery: Delivery) -> ShownDelivery:
    """The attempt, in words."""
    count = f"{delivery.events:,} event{'' if delivery.events == 1 else 's'}"
    number = f" {delivery.repeats:,}" if delivery.repeats < delivery.events else ""
    again = f",{number} sent before" if delivery.repeats else ""
    return ShownDelivery(
        time=delivery.at.astimezone(zone_of_browser()).strftime("%-d %b, %H:%M:%S"),
        is_good=delivery.error is None,
        answer=str(delivery.status or "No answer"),
        error=delivery.error or "",
        events="A test" if delivery.is_test else count + again,
        attempt=delivery.attempt,
        took=f"{delivery.milliseconds:,} ms",
    )


def moment(at: datetime, zone: ZoneInfo) -> str:
    """A time in words."""
    return at.astimezone(zone).strftime("%-d %b, %H:%M")


def batch_words(size: int) -> str:
    """The number of events in a request, in words."""
    return "one event a request" if size == 1 else f"up to {size} events a request"


def _shown(
    endpoint: Endpoint, tags: Mapping[TagId, str], behind: str, now: datetime, zone: ZoneInfo
) -> ShownWebhook:
    is_untried = endpoint.state is EndpointState.ACTIVE and not endpoint.delivered
    kind, state = _NEVER_TRIED if is_untried else _STATES[endpoint.state]
    return ShownWebhook(
        id=endpoint.id,
        url=endpoint.url,
        host=urlsplit(endpoint.url).netloc,
        kind=kind,
        state=state,
        words=_state_in_words(endpoint, now, zone),
        is_enabled=endpoint.is_enabled,
        is_asleep=endpoint.state is EndpointState.SLEEPING,
        events=_list([TYPES[event_type].lower() for event_type in endpoint.types]).capitalize()
        or "Everything",
        scope=_scope(endpoint, tags),
        form=FORMS[endpoint.form],
        batch=batch_words(endpoint.batch_size),
        behind=behind,
        made=time_in_words(endpoint.created_at, zone),
    )


def _state_in_words(endpoint: Endpoint, now: datetime, zone: ZoneInfo) -> str:
    if not endpoint.is_enabled:
        return "Nothing is sent, and what happens waits."
    if endpoint.slept_at:
        return (
            f"Since {moment(endpoint.slept_at, zone)} nothing is tried any more, as nothing had arrived "
            f"since {moment(endpoint.failing_since or endpoint.slept_at, zone)}. {endpoint.last_error}."
        )
    if endpoint.failing_since:
        tried = "once" if endpoint.failures == 1 else f"{endpoint.failures:,} times"
        then = _when(endpoint.next_try_at, now, zone) if endpoint.next_try_at else "now"
        since = moment(endpoint.failing_since, zone)
        return f"Since {since}, tried {tried}, next try {then}. {endpoint.last_error}."
    return ""


def _when(at: datetime, now: datetime, zone: ZoneInfo) -> str:
    return f"at {at.astimezone(zone):%H:%M:%S}" if (at - now).days < 1 else f"on {moment(at, zone)}"


def _behind(endpoint: Endpoint, since: datetime | None, now: datetime, zone: ZoneInfo) -> str:
    """The time up to which a webhook has its events. `since` is when the oldest waiting event was stored."""
    if since is None or (endpoint.state is EndpointState.ACTIVE and now - since < _CURSOR_INTERVAL):
        return "All there is"
    passed = duration_words(now - since) if now - since >= _MINUTE else "less than a minute"
    return f"Up to {moment(since, zone)}, {passed} behind"


def _scope(endpoint: Endpoint, tags: Mapping[TagId, str]) -> str:
    """The links whose events the webhook gets; "" for all links."""
    named = [f"tagged {tags.get(tag_id, 'with a tag that was deleted')}" for tag_id in endpoint.tag_ids]
    if links := len(endpoint.link_ids):
        named.insert(0, "one link" if links == 1 else f"{links} links")
    return _list(named)


def _list(words: Sequence[str]) -> str:
    """The first words, and the number of the others."""
    shown = ", ".join(words[:_MOST_NAMED])
    return f"{shown} and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else shown
