"""Opens of mobile apps, and the installs among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs

from backend.domain.errors import MissingField
from backend.domain.field_rules import Flag, Rule, Text, Word, is_uuid


class Platform(StrEnum):
    """The system that an app runs on."""

    IOS = "ios"
    ANDROID = "android"


class Match(StrEnum):
    """How the link that led to an open was found."""

    LINK = "link"  # the app named the link that it was opened with: certain
    INSTALL_REFERRER = "install_referrer"  # the Play Store handed it on: certain
    ADDRESS = "address"  # the only click from that address to that app: likely
    NONE = "none"


OPEN_REQUIRED: dict[str, Rule[Any]] = {
    "platform": Word(Platform),
    "install_id": Text(128),
    "is_first_launch": Flag(),
}
OPEN_OPTIONAL: dict[str, Rule[Any]] = {
    "link_id": Text(128),
    "short_url": Text(8192),
    "install_referrer": Text(8192),
    "app_id": Text(255),
}
# The parameter of a Play install referrer, and of a web destination, that names the link.
LINK_ID_PARAMETER = "cl_link_id"


@dataclass(frozen=True, slots=True)
class AppOpen:
    """An app was opened: where, by which installation, and what is known of the link that led there."""

    platform: Platform
    install_id: str
    is_first_launch: bool
    link_id: str | None = None
    short_url: str | None = None
    install_referrer: str | None = None
    app_id: str | None = None  # the iOS bundle id or Android package

    @property
    def own_link_id(self) -> str | None:
        """The id of the link that it names itself."""
        return _uuid(self.link_id)

    @property
    def referred_link_id(self) -> str | None:
        """The id of the link that its Play install referrer names."""
        return _uuid(link_id_of_referrer(self.install_referrer or ""))


@dataclass(frozen=True, slots=True)
class Install:
    """An app was opened for the first time; `link_id` is the link that led there, where one did.

    `candidate_id` is the deferred deep link that it claims, so that no other installation gets it.
    """

    org_id: str
    install_id: str
    platform: Platform
    link_id: str | None
    at: datetime
    match: Match = Match.NONE
    candidate_id: str | None = None


def parse_open(body: Mapping[str, object]) -> AppOpen:
    """The open that a body reports; raises MissingField or InvalidField. Unknown fields are left out, so that
    newer apps can talk to an older service."""
    for name in OPEN_REQUIRED:
        if body.get(name) is None:
            raise MissingField(name)
    given = {name: body[name] for name in OPEN_OPTIONAL if body.get(name) not in (None, "")}
    return AppOpen(
        **{name: rule.parse(name, body[name]) for name, rule in OPEN_REQUIRED.items()},
        **{name: OPEN_OPTIONAL[name].parse(name, value) for name, value in given.items()},
    )


def link_id_of_referrer(referrer: str) -> str | None:
    """The link's id in a Play install referrer such as `cl_link_id=…&utm_source=…`."""
    try:
        return parse_qs(referrer, max_num_fields=50).get(LINK_ID_PARAMETER, [None])[0]
    except ValueError:
        return None


def _uuid(text: str | None) -> str | None:
    return text.lower() if text and is_uuid(text) else None
