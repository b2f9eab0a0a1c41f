"""Opens of mobile apps. The first open of an installation is its install."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs

from backend.domain.errors import FieldError, MissingField, raise_all
from backend.domain.fields.install_ids import InstallIdText
from backend.domain.fields.rules import Flag, Moment, Rule, Text, Uuid, Word, is_uuid, parse_fields
from backend.domain.ids import CallId, DeviceId, InstallId, LinkId, OrgId
from backend.domain.links.destinations.web_address import LINK_ID_PARAMETER


class AppPlatform(StrEnum):
    """The system that an app runs on."""

    IOS = "ios"
    ANDROID = "android"


class Match(StrEnum):
    """The ways in which the link that led to an open was found."""

    LINK = "link"  # the app named the link that it was opened with: certain
    INSTALL_REFERRER = "install_referrer"  # the Play Store passed it on: certain
    CLIPBOARD = "clipboard"  # the visitor copied a text on the page before the App Store: certain
    ADDRESS = "address"  # the only click from that address to that app: likely
    NONE = "none"


OPEN_REQUIRED: dict[str, Rule[Any]] = {
    "platform": Word(AppPlatform),
    "install_id": InstallIdText(),
    "is_first_launch": Flag(),
}
OPEN_OPTIONAL: dict[str, Rule[Any]] = {
    "link_id": Text(128),
    "short_url": Text(8192),
    "install_referrer": Text(8192),
    "clipboard_text": Text(8192, lines=True),
    "app_id": Text(255),
    "open_id": Uuid(),
    "occurred_at": Moment(),
    "sent_at": Moment(),
    "has_consent": Flag(),
}


@dataclass(frozen=True, slots=True)
class AppOpen:
    """A report that an app was opened, with what the app knows of the link that led there.

    `link_text` is the link's id as the app sent it; `own_link_id` is that id once it is checked.
    `occurred_at` and `sent_at` are times by the app's clock; None if it told none. Without `has_consent`, no
    visit of the installation is kept.
    """

    platform: AppPlatform
    install_id: InstallId
    is_first_launch: bool
    link_text: str | None = None
    short_url: str | None = None
    install_referrer: str | None = None
    clipboard_text: str | None = None
    app_id: str | None = None  # the iOS bundle id or Android package
    open_id: CallId | None = None
    occurred_at: datetime | None = None
    sent_at: datetime | None = None
    has_consent: bool = True

    @property
    def device_id(self) -> DeviceId | None:
        """The installation as a device of visitors; None if its id is not a UUID, as theirs are."""
        return device_of(self.install_id)

    @property
    def own_link_id(self) -> LinkId | None:
        """The link id that the app itself reports, in its normal form; None if that is not a UUID."""
        return _uuid(self.link_text)

    @property
    def referred_link_id(self) -> LinkId | None:
        """The link id in the Play install referrer, in its normal form; None if there is no UUID."""
        return _uuid(link_id_of_referrer(self.install_referrer or ""))


@dataclass(frozen=True, slots=True)
class Install:
    """The first open of an app on a device. `link_id` is the link that led to it, None if there was none.

    `candidate_ids` are those of the match by address that it uses up, and `text_id` is the clipboard's text,
    so that no other installation gets them.
    """

    org_id: OrgId
    install_id: InstallId
    platform: AppPlatform
    link_id: LinkId | None
    at: datetime
    match: Match = Match.NONE
    candidate_ids: tuple[str, ...] = ()
    text_id: str | None = None


def parse_open(body: Mapping[str, object]) -> AppOpen:
    """Read the body of a request that reports an open.

    Unknown fields are left out, so that newer apps can talk to an older service. Raises MissingField or
    InvalidField, with the errors of all fields.
    """
    fields = {name: value for name, value in body.items() if value is not None}
    errors: list[FieldError] = [MissingField(name) for name in OPEN_REQUIRED if name not in fields]
    fields = {name: value for name, value in fields.items() if value != "" or name not in OPEN_OPTIONAL}
    parsed = parse_fields(OPEN_REQUIRED | OPEN_OPTIONAL, fields, errors)
    raise_all(errors)
    return AppOpen(link_text=parsed.pop("link_id", None), **parsed)


def device_of(install_id: InstallId) -> DeviceId | None:
    """The installation as a device of visitors; None if its id is not a UUID, as theirs are."""
    return DeviceId(install_id) if is_uuid(install_id) else None


def link_id_of_referrer(referrer: str) -> str | None:
    """The link id in a Play install referrer such as `cl_link_id=…&utm_source=…`; None if there is none."""
    try:
        return parse_qs(referrer, max_num_fields=50).get(LINK_ID_PARAMETER, [None])[0]
    except ValueError:
        return None


def _uuid(text: str | None) -> LinkId | None:
    return LinkId(text.lower()) if text and is_uuid(text) else None
