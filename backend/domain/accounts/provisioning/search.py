"""What provisioned people and groups are searched by: equality of single fields, joined by and, or or."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SearchField(StrEnum):
    """A field of people or of groups that a search may name."""

    ID = "id"
    USER_NAME = "user_name"
    EXTERNAL_ID = "external_id"
    DISPLAY_NAME = "display_name"
    ACTIVE = "active"
    MEMBER = "member_ids"


@dataclass(frozen=True, slots=True)
class Equals:
    """The field has this value, or one of its values is this one."""

    field: SearchField
    value: str | bool


@dataclass(frozen=True, slots=True)
class HasEmail:
    """One of the addresses has this value, and this type; None takes any."""

    value: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class OneEmail:
    """One and the same address fits this condition, which is of `HasEmail` alone."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Joined:
    """All of these conditions hold, or, if not `needs_all`, one of them does."""

    conditions: tuple[Condition, ...]
    needs_all: bool = True


Condition = Equals | HasEmail | OneEmail | Joined
EVERYTHING = Joined(())


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Which of the found ones are wanted: `count` of them, after the first `skipped`. They are in the order
    in which they were made."""

    skipped: int = 0
    count: int = 100
