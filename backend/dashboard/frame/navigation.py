"""The pages in the dashboard's navigation, in their order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A page: its label, its endpoint, and the start of the endpoints that belong to it."""

    label: str
    endpoint: str
    icon: str


ITEMS = (
    Item("Overview", "home", "home"),
    Item("Links", "links", "links"),
    Item("Attribution", "attribution", "attribution"),
    Item("Keys", "keys", "key"),
    Item("Allowed origins", "origins", "shield"),
    Item("Install the SDK", "install", "code"),
    Item("Domains", "domains", "globe"),
    Item("Apps", "apps", "phone"),
    Item("Subscription", "subscription", "card"),
    Item("Settings", "settings", "person"),
)


def is_current(item: Item, endpoint: str) -> bool:
    """Whether a request's endpoint is the item's page or one below it."""
    return endpoint == f"dashboard.{item.endpoint}" or endpoint.startswith(f"dashboard.{item.endpoint}_")
