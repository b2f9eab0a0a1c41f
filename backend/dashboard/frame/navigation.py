"""The entries of the dashboard's navigation, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """An entry: its label, its endpoint, and its icon.

    Endpoints that start with the same name belong to it too.
    """

    label: str
    endpoint: str
    icon: str


ITEMS = (
    Item("Overview", "home", "home"),
    Item("Live", "live", "live"),
    Item("Links", "links", "links"),
    Item("Tags", "tags", "tag"),
    Item("UTM templates", "templates", "template"),
    Item("Destinations", "destinations", "out"),
    Item("Attribution", "attribution", "attribution"),
    Item("Events", "events", "event"),
    Item("Costs", "costs", "card"),
    Item("Funnels", "funnels", "funnel"),
    Item("Cohorts", "cohorts", "cohort"),
    Item("Reports", "reports", "share"),
    Item("Mails", "mails", "mail"),
    Item("Alerts", "alerts", "bell"),
    Item("Annotations", "notes", "note"),
    Item("Webhooks", "webhooks", "send"),
    Item("Keys", "keys", "key"),
    Item("Allowed origins", "origins", "shield"),
    Item("Install the SDK", "install", "code"),
    Item("Domains", "domains", "globe"),
    Item("Apps", "apps", "phone"),
    Item("Subscription", "subscription", "card"),
    Item("Settings", "settings", "person"),
)


def is_current(item: Item, endpoint: str) -> bool:
    """Whether the endpoint of a request belongs to this entry."""
    return endpoint == f"dashboard.{item.endpoint}" or endpoint.startswith(f"dashboard.{item.endpoint}_")
