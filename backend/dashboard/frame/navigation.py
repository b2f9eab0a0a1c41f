"""The entries of the dashboard's navigation, in groups, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """An entry: its label, its endpoint, and its icon.

    Endpoints that start with the same name belong to it too.
    """

    label: str
    endpoint: str
    icon: str


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Entries under a heading. Those that nobody needs every day are folded while another page is shown."""

    label: str
    items: tuple[Item, ...]
    is_folded: bool = False


GROUPS = (
    PageGroup(
        "Measure",
        (
            Item("Overview", "home", "home"),
            Item("Live", "live", "live"),
            Item("Attribution", "attribution", "attribution"),
            Item("Events", "events", "event"),
            Item("Funnels", "funnels", "funnel"),
            Item("Cohorts", "cohorts", "cohort"),
            Item("Costs", "costs", "card"),
            Item("Annotations", "notes", "note"),
            Item("Alerts", "alerts", "bell"),
            Item("Reports", "reports", "share"),
            Item("Mails", "mails", "mail"),
        ),
    ),
    PageGroup(
        "Links",
        (
            Item("Links", "links", "links"),
            Item("Tags", "tags", "tag"),
            Item("UTM templates", "templates", "template"),
            Item("Destinations", "destinations", "out"),
        ),
    ),
    PageGroup(
        "Set up",
        (
            Item("Install the SDK", "install", "code"),
            Item("Allowed origins", "origins", "shield"),
            Item("Keys", "keys", "key"),
            Item("Webhooks", "webhooks", "send"),
            Item("Domains", "domains", "globe"),
            Item("Apps", "apps", "phone"),
        ),
        is_folded=True,
    ),
    PageGroup(
        "Account",
        (
            Item("Subscription", "subscription", "card"),
            Item("Members", "members", "person"),
            Item("Single sign-on", "single_sign_on", "key"),
            Item("Provisioning", "provisioning", "plug"),
            Item("Archives", "archives", "download"),
            Item("Audit log", "audit", "search"),
            Item("Settings", "settings", "shield"),
        ),
        is_folded=True,
    ),
)


def groups_of(may_open: Callable[[str], bool]) -> list[PageGroup]:
    """The groups with those entries that somebody may open; none that is empty."""
    groups = [
        replace(group, items=tuple(item for item in group.items if may_open(item.endpoint)))
        for group in GROUPS
    ]
    return [group for group in groups if group.items]


def is_current(item: Item, endpoint: str) -> bool:
    """Whether the endpoint of a request belongs to this entry."""
    return endpoint == f"dashboard.{item.endpoint}" or endpoint.startswith(f"dashboard.{item.endpoint}_")


def is_open(group: PageGroup, endpoint: str) -> bool:
    """Whether the group's entries are shown on the page with this endpoint before anyone opens it."""
    return not group.is_folded or any(is_current(item, endpoint) for item in group.items)
