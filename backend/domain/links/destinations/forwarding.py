"""What a link passes on of what visitors add to its short URL: a path behind it, and parameters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.destination_templates import (
    fill_in,
    has_placeholders,
    parameters_in,
    takes_path,
    varies_in_path,
)
from backend.domain.links.links import Link


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Which parameters of visitors a link passes on: these names, or all (None), without those that its
    addresses take.
    """

    names: Collection[str] | None
    taken: Collection[str]

    @classmethod
    def of(cls, link: Link) -> Forwarding | None:
        """What the link does; None if it passes on all parameters and nothing else, as most links do."""
        urls = link.destinations.values()
        if not link.forwards_path and link.forwards_query is None and not any(map(has_placeholders, urls)):
            return None
        taken = frozenset[str]().union(*map(parameters_in, urls))
        return cls(None if link.forwards_query is None else frozenset(link.forwards_query), taken)

    def passed(self, query: str) -> str:
        """The part of this query string that is passed on, as it was sent."""
        if not query or self.names == frozenset():
            return ""
        return "&".join(parameter for parameter in query.split("&") if self._passes(parameter))

    def _passes(self, parameter: str) -> bool:
        name = unquote_plus(parameter.partition("=")[0])
        return name not in self.taken and (self.names is None or name in self.names)


def filled_in(link: Link, rest: str, query: str) -> Link | None:
    """The link as this visitor follows it: its path with the rest, its addresses filled in.

    `rest` and `query` are what the visitor added, as it was sent. None if an address can't be filled in
    (`fill_in`). Where rules lead is not filled in: a rule's address takes the place of the destination.
    """
    destination = fill_in(link.destination_url, rest, query, forwards_path=link.forwards_path)
    fallbacks = {
        name: fill_in(url, rest, query, forwards_path=link.forwards_path)
        for name, url in link.fallbacks.items()
    }
    found = {name: url for name, url in fallbacks.items() if url is not None}
    if destination is None or len(found) < len(fallbacks):
        return None
    path = f"{link.path}/{rest}" if rest else link.path
    return replace(link, path=path, destination_url=destination, fallbacks=found)


def as_followed(link: Link, rest: str = "", query: str = "") -> Link:
    """The link as `filled_in` gives it; with nothing added if what was added can't be filled in."""
    if Forwarding.of(link) is None:
        return link
    return filled_in(link, rest, query) or filled_in(link, "", "") or link


def varying_addresses(link: Link) -> dict[str, str]:
    """The link's addresses on whose path visitors decide, by the name of the link's field."""
    return {
        name: url
        for name, url in link.destinations.items()
        if name != "expired_url" and (link.forwards_path or varies_in_path(url))
    }


def refuse_unused_path(link: Link) -> None:
    """Raise InvalidField if an address takes what follows the link's path, and it is not forwarded."""
    if link.forwards_path:
        return
    for name, url in link.destinations.items():
        if takes_path(url):
            raise InvalidField(name, "must not contain {path}, unless forwards_path is true")
