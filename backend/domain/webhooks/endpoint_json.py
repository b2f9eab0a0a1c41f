"""Endpoints and deliveries as answers show them (the extensions' "Feed and webhooks")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from backend.domain.fields.shapes import Count, InstantText, UuidText, json_of
from backend.domain.ids import TagId
from backend.domain.webhooks.deliveries import MOST_IDS, Delivery
from backend.domain.webhooks.endpoint import Endpoint, EndpointState


class _Receiver(TypedDict):
    id: UuidText
    url: str
    types: Annotated[list[str], "The types of events that it is sent; empty: all."]
    link_ids: list[UuidText]
    tags: Annotated[list[str], "Names; of a tag that was deleted, its id."]
    form: str
    batch_size: Count
    is_enabled: bool
    state: Annotated[str, f"{', '.join(EndpointState)}; there may be more."]


class _Secret(TypedDict):
    secret: Annotated[str, "It is not shown again."]


class _Progress(TypedDict):
    cursor: Annotated[str, "Up to where the feed was delivered."]
    cursor_at: InstantText
    failing_since: InstantText | None
    next_try_at: InstantText | None
    last_error: str | None
    delivered: Count
    repeats: Count
    created_at: InstantText


class WebhookJson(_Receiver, _Progress):
    """An address that is sent events, and how far it has got."""


class WebhookWithSecretJson(_Receiver, _Secret, _Progress):
    """A webhook with the secret that signs what it is sent."""


class WebhookDeliveryJson(TypedDict):
    """One attempt to deliver events."""

    webhook_id: Annotated[str, "What the header webhook-id says."]
    at: InstantText
    events: Count
    event_ids: Annotated[list[str], f"Those of the first {MOST_IDS} events."]
    status: Annotated[int | None, "What was answered; null where nothing was."]
    milliseconds: Count
    error: Annotated[str | None, "Why it is to be sent again; null where it arrived."]
    attempt: Count
    repeats: Count
    is_test: bool


def endpoint_json(
    endpoint: Endpoint, tags: Mapping[TagId, str], *, shows_secret: bool = False
) -> WebhookJson | WebhookWithSecretJson:
    """The endpoint; its secret only where it was just made.

    `tags` are the names of tags. One that has none was deleted: its id stays, so that who chose it does not
    seem to have chosen everything.
    """
    names = [tags.get(tag_id, tag_id) for tag_id in endpoint.tag_ids]
    shape = WebhookWithSecretJson if shows_secret else WebhookJson
    return json_of(shape, endpoint, tags=names, cursor=str(endpoint.cursor))


def delivery_json(delivery: Delivery) -> WebhookDeliveryJson:
    """The attempt."""
    return json_of(WebhookDeliveryJson, delivery)
