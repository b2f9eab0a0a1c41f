"""Reach: the links to which a REST key is limited, and nothing else of the organization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backend.domain.errors import InvalidField, RequestError
from backend.domain.ids import LinkId, TagId

KINDS = ("tags", "domains", "links")


class NoNewLinks(RequestError):
    """The key is limited to single links, and a new one is none of them."""

    def __init__(self) -> None:
        super().__init__("A key that is limited to single links makes no others")


class ReachedLink(Protocol):
    """What decides whether a link is within reach."""

    @property
    def id(self) -> LinkId:
        """Its id."""

    @property
    def domain(self) -> str:
        """Its domain."""

    @property
    def tag_ids(self) -> Sequence[TagId]:
        """The ids of its tags, also of some that are gone."""


@dataclass(frozen=True, slots=True)
class LinkReach:
    """Links that have one of the tags, are on one of the domains, and are among the links.

    A kind that is None does not limit. One that is empty leaves no link, and so does a reach without any
    kind: what is named and gone must never come to mean everything.
    """

    tags: tuple[TagId, ...] | None = None
    domains: tuple[str, ...] | None = None
    links: tuple[LinkId, ...] | None = None

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> LinkReach | None:
        """The reach as it was stored; None if there is none. One with a kind that this version lacks, which
        a newer one on another host may have stored, has no link."""
        if stored is None:
            return None
        if not stored.keys() <= set(KINDS):
            return cls()
        return cls(**{kind: tuple(names) for kind, names in stored.items() if names is not None})

    def has(self, link: ReachedLink) -> bool:
        """Whether the link is within reach. `tags` must be those that there are."""
        return (
            self != LinkReach()
            and (self.tags is None or not set(self.tags).isdisjoint(link.tag_ids))
            and (self.domains is None or link.domain in self.domains)
            and (self.links is None or link.id in self.links)
        )

    def check_new(self, domain: str) -> None:
        """Raise NoNewLinks or InvalidField unless a new link on this domain can be within reach."""
        if self.links is not None or self == LinkReach():
            raise NoNewLinks
        if self.domains is not None and domain not in self.domains:
            rule = f"must be one to which the key is limited: {', '.join(self.domains)}"
            raise InvalidField("domain", rule)

    def new_tags(self, tag_ids: Sequence[TagId]) -> list[TagId]:
        """The tags of a new link that was to have these ones: with the only one to which the key is limited.

        Raises InvalidField if it is limited to several, and the link was to have none of them.
        """
        if self.tags is None or not set(self.tags).isdisjoint(tag_ids):
            return list(tag_ids)
        if len(self.tags) != 1:
            raise InvalidField("tags", "must have one to which the key is limited")
        return [*tag_ids, *self.tags]
