"""Actors: who makes a change that the audit log records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backend.domain.accounts.api_keys import ApiKey
from backend.domain.accounts.users import User


class ActorKind(StrEnum):
    """What sort of actor somebody is."""

    PERSON = "person"
    KEY = "key"
    COMMAND_LINE = "command_line"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change.

    `id` is a person's or a key's. `name` is what people know the actor by: the address of a person, the name
    or the hint of a key, the name of the system's user at the command line.
    """

    kind: ActorKind
    id: str | None
    name: str


# What happens by itself, such as the end of a trial, and what nobody who is signed in asks for.
SERVICE = Actor(ActorKind.SERVICE, None, "waylink")


def person(user: User) -> Actor:
    """The actor that this user is."""
    return Actor(ActorKind.PERSON, user.id, user.email)


def key_holder(key: ApiKey) -> Actor:
    """The actor that whoever has this key is."""
    return Actor(ActorKind.KEY, key.id, key.name or key.hint)


def command_line(user_name: str) -> Actor:
    """The actor at the command line, by the name of the system's user."""
    return Actor(ActorKind.COMMAND_LINE, None, user_name)
