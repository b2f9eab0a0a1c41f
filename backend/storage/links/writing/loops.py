"""Finds links that would send visitors in a circle through short URLs of this service."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Set
from urllib.parse import urlsplit

from backend.domain.errors import InvalidField
from backend.domain.links.destinations.destination import possible_targets
from backend.domain.links.destinations.forwarding import varying_addresses
from backend.domain.links.input import Changes
from backend.domain.links.links import LEADING_FIELDS, Link
from backend.domain.links.loose_paths import loose_place
from backend.domain.links.path_prefixes import prefixes_in
from backend.domain.links.rules.rule_json import rule_targets
from backend.domain.web.client import Platform
from backend.domain.web.short_urls import host_of, parse_short_url, without_dot_segments
from backend.storage.driver.mongo import Database
from backend.storage.links import links

# The domain and path of a link, and how links are found by them.
DomainPath = tuple[str, str]
FindLinks = Callable[[Set[DomainPath]], Awaitable[Mapping[DomainPath, Link]]]
# How links are found that are not stored yet, and whose paths have the same letters as one of these.
FindAlike = Callable[[Set[DomainPath]], Iterable[Link]]
# A chain of more short URLs than this counts as a loop.
_LONGEST_CHAIN = 10
# At most this many links are followed, since each may lead to several others.
_MOST_LINKS = 60
# The most addresses that are looked up. Rules of one link may lead to 500 pages that are no links at all.
_MOST_PLACES = 1_000
# The most places that are read ahead: each address has some above it.
_MOST_READ_AHEAD = 5_000
# A platform, and whether the visitor uses a browser. A link may lead each kind of visitor elsewhere.
VisitorKind = tuple[Platform, bool]
_VISITOR_KINDS: list[VisitorKind] = [
    (platform, is_browser) for platform in Platform for is_browser in (True, False)
]
_TARGET_FIELDS = {
    *LEADING_FIELDS,
    "rules",
    "max_clicks",
    "password_hash",
    "ios_behavior",
    "android_behavior",
    "forwards_path",
}


def may_loop(changes: Changes) -> bool:
    """Whether the changes have a field that says where the link leads, so that it must be checked."""
    return not _TARGET_FIELDS.isdisjoint(changes)


async def refuse_loop(
    database: Database, link: Link, resolve: FindLinks | None = None, find_alike: FindAlike | None = None
) -> None:
    """Raise InvalidField if the link, stored or not, would lead visitors back to its own short URL."""
    if name := await looping_field(database, link, resolve, find_alike):
        raise InvalidField(name, "must not lead back to the link's own short URL")


def refuse_varying(link: Link, domains: Container[str]) -> None:
    """Raise InvalidField if visitors decide where on one of these link domains the link leads.

    They could lead themselves in a circle. So a link that takes something from visitors into a path never
    leads to another link, and no loop of stored links goes through it.
    """
    if name := varying_field(link, domains):
        raise InvalidField(
            name, "must not lead to a domain of short URLs, since visitors fill in a part of the path"
        )


def varying_field(link: Link, domains: Container[str]) -> str | None:
    """The field for which `refuse_varying` refuses the link; None if it does not."""
    addresses = varying_addresses(link).items()
    return next((name for name, url in addresses if (host := host_of(url)) and host in domains), None)


async def looping_field(
    database: Database, link: Link, resolve: FindLinks | None = None, find_alike: FindAlike | None = None
) -> str | None:
    """The first of the link's fields that makes a loop; None if there is none.

    A field makes a loop if it leads a visitor back to the link's own short URL, into another loop, or through
    too many links. The link itself need not be stored. `resolve` finds the other links, by default in the
    database. Where no link has a path itself, the only one with its letters is found: in the database, or by
    `find_alike`.
    """

    async def in_database(places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        return await links.resolve_links(database, places)

    async def in_other_case(places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        stored = await links.find_alike(database, places)
        return _the_only_ones(places, [*stored, *(find_alike(places) if find_alike else ())])

    search = _Search(link, resolve or in_database, in_other_case)
    looping = {
        name for visitor_kind in _VISITOR_KINDS for name in await search.looping_fields(link, visitor_kind)
    }
    return next((name for name in (*LEADING_FIELDS, *rule_targets(link.rules)) if name in looping), None)


class _Search:
    """Follows the addresses of links. Each link on the way is read only once, and with its neighbours.

    Writers of links wait for one another, so many look-ups one by one would hold up those of others.
    """

    def __init__(self, link: Link, resolve: FindLinks, resolve_in_other_case: FindLinks) -> None:
        self._link = link
        self._origin = link.domain, link.path
        self._resolve = resolve
        self._resolve_in_other_case = resolve_in_other_case
        self._known: dict[DomainPath, Link | None] = {}
        self._links_by_place: dict[DomainPath, Link | None] = {}
        self._links = 0

    async def looping_fields(self, link: Link, visitor_kind: VisitorKind) -> list[str]:
        """The link's fields that lead this visitor in a circle."""
        targets = possible_targets(link, *visitor_kind)
        await self._look_ahead(targets.values(), visitor_kind)
        return [name for name, url in targets.items() if await self._loops(url, visitor_kind)]

    async def _loops(self, url: str, visitor_kind: VisitorKind) -> bool:
        """Whether the chain of links that starts at this URL forms a loop or is too long."""
        reached = self._places([url])
        for _ in range(_LONGEST_CHAIN):
            if not reached:
                return False
            if (
                any(map(self._is_origin, reached))
                or len(self._links_by_place.keys() | reached) > _MOST_PLACES
            ):
                return True
            found = [link for place in reached if (link := await self._find(place))]
            if self._links > _MOST_LINKS:
                return True
            targets = (url for link in found for url in possible_targets(link, *visitor_kind).values())
            reached = self._places(targets)
        return bool(reached)

    def _places(self, urls: Iterable[str]) -> set[DomainPath]:
        """The places where visitors of these addresses get.

        Where a link has the path itself, that alone; else, where one above passes on the rest, that.
        """
        found: set[DomainPath] = set()
        for url in urls:
            exact = parse_short_url(url)
            if exact and self._has_link(exact):
                found.add(exact)
            elif (above := self._above(url)) and self._has_link(above):
                found.add(above)
            else:  # a link above in another case comes after what else may be meant
                found |= places([url]) | ({above} if above else set())
        return found

    def _above(self, url: str) -> DomainPath | None:
        """The place of the nearest link above this address, if it passes on what follows its path."""
        for place in _places_above(url):
            link = self._link if self._is_origin(place) else self._known.get(place)
            if link and link.forwards_path:
                return place
        return None

    def _has_link(self, place: DomainPath) -> bool:
        """Whether the link itself, or one that is known, has this path."""
        link = self._known.get(place)
        return place == self._origin or (link is not None and link.path == place[1])

    def _is_origin(self, place: DomainPath) -> bool:
        """Whether visitors of this place get the link itself, maybe since no other link has the path."""
        domain, path = self._origin
        is_alike = place[0] == domain and place[1].lower() == path.lower()
        return place == self._origin or (is_alike and self._known.get(place) is None)

    async def _look_ahead(self, urls: Iterable[str], visitor_kind: VisitorKind) -> None:
        """Read all links on the ways from these URLs, those of a step together, as far as is followed."""
        reached, seen = _possible_places(urls), set[DomainPath]()
        for _ in range(_LONGEST_CHAIN):
            missing = reached - self._known.keys()
            if not reached or len(self._known) + len(missing) > _MOST_READ_AHEAD:
                return
            await self._read(missing)
            seen |= reached
            found = filter(None, map(self._known.get, reached))
            targets = (url for link in found for url in possible_targets(link, *visitor_kind).values())
            reached = _possible_places(targets) - seen

    async def _read(self, missing: Set[DomainPath]) -> None:
        if not missing:
            return
        found = await self._resolve(missing)
        alike = await self._resolve_in_other_case(missing - found.keys())
        others = {place: link for place, link in alike.items() if (link.domain, link.path) != self._origin}
        self._known |= {**dict.fromkeys(missing), **found, **others}

    async def _find(self, place: DomainPath) -> Link | None:
        if place not in self._links_by_place:
            if place not in self._known:
                await self._read({place})
            self._links_by_place[place] = self._known[place]
            self._links += self._links_by_place[place] is not None
        return self._links_by_place[place]


def alike_among(stored: Mapping[DomainPath, Link], wanted: Set[DomainPath]) -> list[Link]:
    """The links among these whose paths have the letters of one of these paths, in any case."""
    letters = set(map(_letters, wanted))
    return [link for place, link in stored.items() if _letters(place) in letters]


def _letters(place: DomainPath) -> DomainPath:
    return place[0], place[1].lower()


def _the_only_ones(wanted: Iterable[DomainPath], found: Iterable[Link]) -> dict[DomainPath, Link]:
    """The link for each of these places, where only one of these has its letters."""
    alike: defaultdict[DomainPath, dict[DomainPath, Link]] = defaultdict(dict)
    for link in found:
        place = link.domain, link.path
        alike[_letters(place)][place] = link
    return {
        place: next(iter(there.values())) for place in wanted if len(there := alike[_letters(place)]) == 1
    }


def places(urls: Iterable[str]) -> set[DomainPath]:
    """The places of links at these addresses, or that these may mean, whether there is one or not."""
    found: set[DomainPath] = set()
    for url in urls:
        domain, loose = loose_place(url)
        found |= {(domain, path) for path in loose.paths}
        if place := parse_short_url(url):
            found.add(place)
    return found


def _possible_places(urls: Iterable[str]) -> set[DomainPath]:
    """The places of links at these addresses, and above them."""
    every = set(urls)
    return places(every) | {place for url in every for place in _places_above(url)}


def _places_above(url: str) -> list[DomainPath]:
    """The places above this address, the nearest first, whose links may pass on the rest."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    domain, prefixes = prefixes_in(parts._replace(path=without_dot_segments(parts.path)).geturl())
    return [(domain, path) for path, _ in prefixes]
