"""Which events an endpoint gets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.webhooks.endpoint import Endpoint


def wanted_types(endpoint: Endpoint) -> Collection[EventType]:
    """The types of the events that it gets."""
    return frozenset(endpoint.types or USUAL_TYPES)


def link_of(event: Event) -> LinkId | None:
    """The link that the event is about; None if it is about none."""
    link = event.data.get("link")
    link_id = link.get("id") if isinstance(link, dict) else event.data.get("link_id")
    return LinkId(link_id) if isinstance(link_id, str) else None


def selected(endpoint: Endpoint, events: Iterable[Event], links: Mapping[LinkId, Link]) -> list[Event]:
    """Those of the events, of wanted types, that are about links which the endpoint has chosen.

    A link is chosen by its id, or by a tag that it has in `links`: as it is now, not as it was. Where
    nothing is chosen, all are, and events that are about no link.
    """
    if not endpoint.link_ids and not endpoint.tag_ids:
        return list(events)
    by_id, by_tag = set(endpoint.link_ids), set(endpoint.tag_ids)
    return [
        event
        for event in events
        if (link_id := link_of(event))
        and (link_id in by_id or (link_id in links and not by_tag.isdisjoint(links[link_id].tag_ids)))
    ]


def batches(events: Sequence[Event], size: int, sent_to: Cursor) -> Iterator[list[Event]]:
    """The events in requests of at most this size.

    None goes beyond `sent_to`, up to where events were sent before: so a request that is made again has the
    same events, however many have come behind them.
    """
    batch: list[Event] = []
    for event in events:
        if batch and (len(batch) == size or batch[-1].cursor <= sent_to < event.cursor):
            yield batch
            batch = []
        batch.append(event)
    if batch:
        yield batch
