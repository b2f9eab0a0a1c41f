"""Which links of a domain open its app, as rules for paths, within the size that phones take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from backend.domain.taps.components import ComponentJson

# Apple takes less than 128 KB; the names of apps and certificates need some of it. Google publishes no limit,
# and gets no more.
MOST_BYTES = 126_000
MOST_PATHS = 11_000  # a path of one character takes 12 bytes, so no more than this many fit
# From this share on, people are told that the file fills up.
NEARLY_FULL = 0.8
# Pages of links that only a browser shows: their QR codes, and where they lead.
_BROWSER_PAGES = ("*.qr.svg", "*.qr.png", "*+")


class Listing(StrEnum):
    """Which links a file names."""

    BROWSER_LINKS = "browser_links"  # those that stay in the browser; all others open the app
    APP_LINKS = "app_links"  # those that open the app; all others stay in the browser
    SOME_APP_LINKS = "some_app_links"  # the newest that open the app; older ones stay in the browser too


@dataclass(frozen=True, slots=True)
class PathRules:
    """The rules for paths of a file, by its `listing`, with the paths that it names.

    `exceptions` are paths of links below one of them, such as help/app below help/*, for which the opposite
    holds.
    """

    listing: Listing
    paths: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()

    @property
    def components(self) -> list[ComponentJson]:
        """The rules in their order. Phones use the first component that matches."""
        named = dict.fromkeys(self.paths, self.listing is Listing.BROWSER_LINKS)
        if self.exceptions:
            named |= dict.fromkeys(self.exceptions, self.listing is not Listing.BROWSER_LINKS)
            named = {path: named[path] for path in sorted(named, key=_exactness, reverse=True)}
        components = [_component(f"/{path}", is_excluded) for path, is_excluded in named.items()]
        if self.listing is not Listing.BROWSER_LINKS:
            return components
        return [*components, *(_component(pattern, True) for pattern in _BROWSER_PAGES), {"/": "*"}]

    @property
    def forwarding(self) -> list[str]:
        """The beginnings of the paths below which everything is named."""
        return [path.removesuffix("*") for path in self.paths if path.endswith("/*")]

    @property
    def size(self) -> int:
        """How many bytes the rules take in a file."""
        return sum(map(_size, self.components))

    def without(self, path: str) -> PathRules:
        """The rules before there was a link with this path."""
        own = {path, f"{path}/*"}
        paths, exceptions = (
            tuple(listed for listed in named if listed not in own) for named in (self.paths, self.exceptions)
        )
        return replace(self, paths=paths, exceptions=exceptions)

    def with_link(self, path: str, *, opens_app: bool) -> PathRules:
        """The rules once the link with this path opens the app, or stays in the browser.

        A full file takes no further link.
        """
        if opens_app is (self.listing is Listing.BROWSER_LINKS):
            rest = self.without(path)
            is_below = path.startswith(tuple(rest.forwarding))
            return replace(rest, exceptions=(path, *rest.exceptions)) if is_below else rest
        if self.listing is Listing.SOME_APP_LINKS:
            return self
        return self if path in self.paths else replace(self, paths=(path, *self.paths))


def all_but(paths: Iterable[str]) -> PathRules | None:
    """Rules for every path except these and pages about links; None if they don't fit."""
    rules = PathRules(Listing.BROWSER_LINKS, tuple(paths))
    return rules if rules.size < MOST_BYTES else None


def only(paths: Sequence[str]) -> PathRules:
    """Rules for these paths, and for as many of them, from the start, as fit."""
    ends = accumulate(_size({"/": f"/{path}"}) for path in paths)
    fitting = tuple(path for path, end in zip(paths, ends, strict=True) if end < MOST_BYTES)
    is_whole = len(fitting) == len(paths) and len(paths) < MOST_PATHS
    return PathRules(Listing.APP_LINKS if is_whole else Listing.SOME_APP_LINKS, fitting)


def _component(pattern: str, is_excluded: bool) -> ComponentJson:
    return {"/": pattern, "exclude": True} if is_excluded else {"/": pattern}


def _exactness(path: str) -> int:
    """The more, the earlier: a path below help/* is longer than its beginning help/."""
    return len(path.removesuffix("*"))


def _size(component: ComponentJson) -> int:
    return len(json.dumps(component, separators=(",", ":"))) + 1  # and a comma
