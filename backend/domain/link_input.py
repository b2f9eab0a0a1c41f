"""The fields with which a link is created and changed (contract, "Link input fields")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend.domain.errors import InvalidField, MissingField
from backend.domain.field_rules import HostName, JsonObject, LinkPath, Number, Rule, Text, WebAddress
from backend.domain.ids import LinkId, OrgId
from backend.domain.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS, Behavior, CreatedBy, Link

_BEHAVIOR = Number(Behavior, "1 (open in browser) or 2 (open in app)")

REQUIRED: dict[str, Rule[Any]] = {"destination_url": WebAddress(), "link_name": Text(1024, shown=True)}
OPTIONAL: dict[str, Rule[Any]] = {
    "ios_behavior": _BEHAVIOR,
    "android_behavior": _BEHAVIOR,
    **{name: Text(1024) for name in UTM_FIELDS},
    "social_title": Text(1024, shown=True),
    "social_description": Text(4096, lines=True, shown=True),
    "social_image_url": WebAddress(),
    **{name: WebAddress() for name in FALLBACK_FIELDS},
    "custom_data": JsonObject(),
}
CREATE_REQUIRED: dict[str, Rule[Any]] = {"domain": HostName(), **REQUIRED}
CREATE_OPTIONAL: dict[str, Rule[Any]] = {"selected_path": LinkPath(), **OPTIONAL}
UPDATE_FIELDS: dict[str, Rule[Any]] = {**REQUIRED, **OPTIONAL}

# What another service counted for an imported link, and who that was.
MOST_IMPORTED_CLICKS = 10**15
IMPORTED_FROM = Text(100, shown=True)

# Letters and digits that are not confused when they are read aloud or copied by hand.
PATH_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
GENERATED_PATH_LENGTH = 6

# Field names with their parsed values; None clears an optional field.
Changes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewLink:
    """The checked fields of a link that is to be created.

    `selected_path` None means that the path is generated.
    """

    domain: str
    selected_path: str | None
    fields: Changes

    def to_link(
        self, path: str, *, link_id: LinkId, org_id: OrgId, created_by: CreatedBy, now: datetime
    ) -> Link:
        """The link with this path. New links are enabled (decisions, "initial is_enabled")."""
        made = now.replace(microsecond=0)
        bare = Link(
            id=link_id,
            org_id=org_id,
            domain=self.domain,
            path=path,
            destination_url=self.fields["destination_url"],
            link_name=self.fields["link_name"],
            created_at=made,
            modified_at=made,
            created_by=created_by,
        )
        return apply_changes(bare, self.fields)


def parse_new_link(body: Mapping[str, object]) -> NewLink:
    """Read the body of a create-link request.

    Null means that a field is absent; for an optional field, so does empty text. Raises MissingField or
    InvalidField.
    """
    for name in CREATE_REQUIRED:
        if body.get(name) is None:
            raise MissingField(name)
    _refuse_unknown(body, CREATE_REQUIRED | CREATE_OPTIONAL)
    values = _parse(body, CREATE_REQUIRED | CREATE_OPTIONAL, clearable=OPTIONAL)
    given = {name: value for name, value in values.items() if value is not None}
    return NewLink(given.pop("domain"), given.pop("selected_path", None), given)


def body_of(link: Link) -> dict[str, Any]:
    """A create-link body that would create a link like this one."""
    return {
        "domain": link.domain,
        "selected_path": link.path,
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "ios_behavior": int(link.ios_behavior),
        "android_behavior": int(link.android_behavior),
        **link.utm,
        **link.social,
        **link.fallbacks,
        "custom_data": link.custom_data,
    }


def parse_changes(body: Mapping[str, object]) -> Changes:
    """Read the body of an update-link request. Raises InvalidField, also for unknown fields."""
    _refuse_unknown(body, UPDATE_FIELDS)
    return _parse(body, UPDATE_FIELDS, clearable=OPTIONAL)


def apply_changes(link: Link, changes: Changes) -> Link:
    """A copy of the link with these changes. Its modification time stays the same."""
    plain: dict[str, Any] = {
        name: Behavior.BROWSER if value is None and OPTIONAL.get(name) is _BEHAVIOR else value
        for name, value in changes.items()
        if name not in {*UTM_FIELDS, *SOCIAL_FIELDS, *FALLBACK_FIELDS}
    }
    return replace(
        link,
        utm=_merge(link.utm, changes, UTM_FIELDS),
        social=_merge(link.social, changes, SOCIAL_FIELDS),
        fallbacks=_merge(link.fallbacks, changes, FALLBACK_FIELDS),
        **plain,
    )


def _refuse_unknown(body: Mapping[str, object], known: Mapping[str, Rule[Any]]) -> None:
    for name in body:
        if name in CREATE_REQUIRED | CREATE_OPTIONAL and name not in known:
            raise InvalidField(name, "can't be changed")
        if name not in known:
            raise InvalidField(_shown(name), "is not a field of this request")


def _parse(
    body: Mapping[str, object], rules: Mapping[str, Rule[Any]], clearable: Mapping[str, Rule[Any]]
) -> Changes:
    return {
        name: _parse_field(name, body[name], rule, clearable=name in clearable)
        for name, rule in rules.items()
        if name in body and not (name == "selected_path" and body[name] is None)
    }


def _parse_field(name: str, value: object, rule: Rule[Any], *, clearable: bool) -> Any:
    if clearable and (value is None or (value == "" and rule is not _BEHAVIOR)):
        return None
    return rule.parse(name, value)


def _merge(old: Mapping[str, str], changes: Changes, names: tuple[str, ...]) -> dict[str, str]:
    merged = dict(old) | {name: changes[name] for name in names if name in changes}
    return {name: merged[name] for name in names if merged.get(name) is not None}


def _shown(name: str) -> str:
    """A field name from the request, fit for an error message: ASCII, at most 100 characters."""
    return name.encode("ascii", "backslashreplace").decode()[:100]
