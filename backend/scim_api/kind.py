"""What each kind of resource can do, and the metadata that all of them have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, Generic, TypeVar

from scim2_models import Meta, Resource

from backend.domain.accounts.provisioning.search import Condition, ResultPage
from backend.domain.fields.rules import Text

ResourceT = TypeVar("ResourceT", bound="Resource[Any]")
_TEXT = Text(256, shown=True)


class ResourceKind(ABC, Generic[ResourceT]):
    """Users or groups of one organization. `version` is the one that was read before a change."""

    @abstractmethod
    async def get(self, resource_id: str) -> ResourceT:
        """The one with this id. Raises ItemUnknown."""

    @abstractmethod
    async def search(self, condition: Condition, page: ResultPage) -> tuple[int, list[ResourceT]]:
        """How many fit, and those of the page."""

    @abstractmethod
    async def create(self, resource: ResourceT, new_id: str, now: datetime) -> ResourceT:
        """Store a new one with this id, and return it as it is stored."""

    @abstractmethod
    async def update(self, resource: ResourceT, version: int, now: datetime) -> ResourceT:
        """Store it in the place of the one with its id, and return it as it is stored."""

    @abstractmethod
    async def delete(self, resource_id: str, version: int, now: datetime) -> None:
        """Delete the one with this id."""


AnyResourceKind = ResourceKind[Resource[Any]]


def meta(resource_type: str, created_at: datetime, modified_at: datetime, version: int) -> Meta:
    """The metadata of a stored resource."""
    return Meta(
        resource_type=resource_type, created=created_at, last_modified=modified_at, version=f'W/"{version}"'
    )


def text(name: str, value: str | None) -> str:
    """A text that lists show, of at most 256 characters. Raises InvalidField."""
    return _TEXT.parse(name, value)


def text_or_none(name: str, value: str | None) -> str | None:
    """The same, or None without one, or with an empty one."""
    return text(name, value) if value else None
