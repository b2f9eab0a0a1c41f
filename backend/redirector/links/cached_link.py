"""A link as redirects keep it in memory."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Set
from copy import copy
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from itertools import chain
from sys import getsizeof, intern
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from backend.domain.accounts.apps import Apps
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import OrgId, TagId
from backend.domain.links.destinations.compiled_rules import CompiledRules
from backend.domain.links.destinations.forwarding import Forwarding, filled_in
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import NOT_FOR_REDIRECTS, Link
from backend.domain.links.rules.conditions import unknown_zones

# What a usual link takes: 100,000 of them fit into 100 MB.
LINK_BYTES = 1_000
_SMALL = 10  # links
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Fields whose texts no other link has. Rules are measured apart.
_OWN_FIELDS = tuple(field.name for field in fields(Link) if field.name not in {"domain", "org_id", "rules"})
_PLACE_BYTES = 64  # of a text in a set
_NONE: dict[str, str] = {}
_NO_RULES: list[dict[str, Any]] = []
_NO_TAGS: list[TagId] = []
_logger = logging.getLogger(__name__)


class CachedLink:
    """A link and the apps of its domain.

    If the link passes on what follows its path, `below` has the paths of all links below it, which come
    first; None if they are not known, or too many.
    """

    __slots__ = (
        "_bytes_below",
        "_cleared_by",
        "_own_bytes",
        "_size_of_rules",
        "apps",
        "below",
        "forwarding",
        "is_small",
        "link",
        "loaded_at",
        "rules",
    )
    variant: ClassVar[None] = None  # what a rule leads to may have one

    def __init__(self, link: Link, apps: Apps, loaded_at: float, below: set[str] | None = None) -> None:
        self.link = _only_what_redirects_need(link)
        self.apps = apps
        self.loaded_at = loaded_at
        self.rules = CompiledRules(self.link) if link.rules else None
        if names := unknown_zones(self.link.rules):
            _logger.warning(
                "Rules of the link %s fit nobody: no time zone %s here", link.id, ", ".join(names)
            )
        self.forwarding = Forwarding.of(self.link)
        self.below = below
        self._bytes_below = sum(map(_bytes_in_set, below or ()))
        self._own_bytes = _own_bytes(self.link) + _bytes_of(self.forwarding)
        self._size_of_rules = max(self.rules.size, _bytes_of(link.rules) // LINK_BYTES) if self.rules else 0
        self._cleared_by: AddressPatterns | None = None
        # Whether what is kept beside the cache may hold on to the entry.
        self.is_small = self.size <= _SMALL

    def changed_into(self, link: Link) -> CachedLink | None:
        """An entry for the changed link, with the same apps.

        None if this version can't use the link, or if the paths below it have to be read first.
        """
        if link.forwards_path and not self.link.forwards_path:
            return None
        try:
            return CachedLink(link, self.apps, self.loaded_at, self.below)
        except Exception as error:  # such as rules of a newer version; changes of others' links come next
            _logger.warning("What the link %s has become can't be used: %r", link.id, error)
            return None

    def is_blocked(self, blocked: AddressPatterns) -> bool:
        """Whether the link leads where the operator blocks. That is looked up once for each block list."""
        if self._cleared_by is blocked:
            return False
        if leads_to(self.link, blocked):
            return True
        self._cleared_by = blocked
        return False

    @property
    def size(self) -> int:
        """How many links without rules and with short texts take as much memory.

        Each address of the rules does as one, and so does each LINK_BYTES of texts, those of rules apart.
        """
        texts = self._own_bytes + self._bytes_below + _bytes_of(self.apps)
        return 1 + self._size_of_rules + texts // LINK_BYTES

    def add_below(self, path: str, most: int) -> None:
        """Note that a link has this path below the link, of which the paths are known. More than `most` are
        not kept."""
        if self.below is not None and path not in self.below:
            self.below.add(path)
            self._bytes_below += _bytes_in_set(path)
            if len(self.below) > most:
                self.below, self._bytes_below = None, 0

    def filled_in(self, rest: str, query: str) -> CachedLink | None:
        """The entry for one visitor, who added this to the short URL; None if it can't be filled in."""
        link = filled_in(self.link, rest, query)
        if link is None:
            return None
        filled = copy(self)
        filled.link = link
        return filled

    def takes(self, longer: Iterable[str | None]) -> bool:
        """Whether it is known that the link gets what is asked for below its path.

        `longer` are the path that is asked for, and what is between it and the link's own: no link may have
        one of them.
        """
        return self.link.forwards_path and self.below is not None and self.below.isdisjoint(longer)


def _bytes_in_set(path: str) -> int:
    return _PLACE_BYTES + getsizeof(path)


def _own_bytes(link: Link) -> int:
    """About how many bytes the link's texts take, without rules and what it shares with other links."""
    return sum(_bytes_of(getattr(link, name)) for name in _OWN_FIELDS)


def _bytes_of(value: object) -> int:
    """About how many bytes the texts in this value take."""
    if isinstance(value, str):
        return 0 if isinstance(value, Enum) else getsizeof(value)
    if isinstance(value, Set):
        return sum(map(_bytes_in_set, value))
    return sum(map(_bytes_of, _parts_of(value)))


def _parts_of(value: object) -> Iterable[object]:
    """What this value has of its own: no texts, if it is no collection."""
    if isinstance(value, _Shared):  # whose names all links share
        return value.values()
    if isinstance(value, Mapping):
        return chain(value, value.values())
    if isinstance(value, Collection):
        return value
    return (getattr(value, field.name) for field in fields(value)) if is_dataclass(value) else ()


def _only_what_redirects_need(link: Link) -> Link:
    """The link without fields that redirects don't need."""
    return replace(
        link,
        domain=intern(link.domain),
        org_id=OrgId(intern(link.org_id)),
        link_name="",
        created_at=_EPOCH,
        modified_at=_EPOCH,
        utm=_shared(link.utm),
        social=link.social or _NONE,
        fallbacks=link.fallbacks or _NONE,
        custom_data=None,
        imported_clicks=None,
        tag_ids=_NO_TAGS,
        rules=link.rules or _NO_RULES,
        **NOT_FOR_REDIRECTS,
    )


def _shared(utm: dict[str, str]) -> dict[str, str]:
    """The same fields, as one object for all links that have equal fields, to save memory."""
    items = tuple(utm.items())
    shared = _SHARED.get(items)
    if shared is None:
        shared = _SHARED[items] = _Shared((intern(name), value) for name, value in items)
    return shared


class _Shared(dict[str, str]):
    """Fields that are forgotten with the last link that has them."""

    __slots__ = ("__weakref__",)


_SHARED: WeakValueDictionary[tuple[tuple[str, str], ...], _Shared] = WeakValueDictionary()
