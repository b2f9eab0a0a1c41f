"""The fields with which a link is created and changed (contract, "Link input fields")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    raise_all,
    shown_name,
    unknown_names,
)
from backend.domain.fields.addresses.destination_templates import DestinationAddress
from backend.domain.fields.addresses.signed_addresses import is_signed
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import (
    Flag,
    HostName,
    JsonObject,
    LinkPath,
    Number,
    Rule,
    Text,
    WebAddress,
    parse_fields,
)
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.limits import LIMIT_FIELDS, NO_LIMITS
from backend.domain.links.links import (
    CLEARABLE_TOLD_FIELDS,
    FALLBACK_FIELDS,
    SOCIAL_FIELDS,
    TOLD_FIELDS,
    UTM_FIELDS,
    Behavior,
    CreatedBy,
    Link,
)
from backend.domain.links.rules.input import LinkRules
from backend.domain.links.tags import TagNames
from backend.domain.links.utm_templates import TEMPLATE_FIELD

_BEHAVIOR = Number(Behavior, "1 (open in browser) or 2 (open in app)")

REQUIRED: dict[str, Rule[Any]] = {
    "destination_url": DestinationAddress(),
    "link_name": Text(1024, shown=True),
}
OPTIONAL: dict[str, Rule[Any]] = {
    "ios_behavior": _BEHAVIOR,
    "android_behavior": _BEHAVIOR,
    **{name: Text(1024) for name in UTM_FIELDS},
    "social_title": Text(1024, shown=True),
    "social_description": Text(4096, lines=True, shown=True),
    "social_image_url": WebAddress(),
    **{name: DestinationAddress() for name in FALLBACK_FIELDS},
    "custom_data": JsonObject(),
}
CREATE_REQUIRED: dict[str, Rule[Any]] = {"domain": HostName(), **REQUIRED}
CREATE_OPTIONAL: dict[str, Rule[Any]] = {"selected_path": LinkPath(), **OPTIONAL}
CREATE_FIELDS: dict[str, Rule[Any]] = CREATE_REQUIRED | CREATE_OPTIONAL
UPDATE_FIELDS: dict[str, Rule[Any]] = {**REQUIRED, **OPTIONAL}
# Fields of operations that are not in the contract.
EXTERNAL_ID = TOLD_FIELDS["external_id"]
LINK_RULES = LinkRules()
NEW_LINK_FIELDS: dict[str, Rule[Any]] = {
    **CREATE_FIELDS,
    "external_id": EXTERNAL_ID,
    "tags": TagNames(),
    "rules": LINK_RULES,
    TEMPLATE_FIELD: ItemName(),
    "is_enabled": Flag(),
    **TOLD_FIELDS,
    **LIMIT_FIELDS,
}
CHANGE_FIELDS: dict[str, Rule[Any]] = {
    **UPDATE_FIELDS,
    "external_id": EXTERNAL_ID,
    "tags": TagNames(),
    "add_tags": TagNames(),
    "remove_tags": TagNames(),
    "rules": LINK_RULES,
    "is_enabled": Flag(),
    "is_archived": Flag(),
    **TOLD_FIELDS,
    **LIMIT_FIELDS,
}
# Null, and for a text "", stand for such a field that is not set.
CLEARABLE = frozenset({*OPTIONAL, "tags", TEMPLATE_FIELD, *CLEARABLE_TOLD_FIELDS, *LIMIT_FIELDS})
# Only null clears these: "" is no number, and an empty variable must not remove a password unnoticed.
CLEARED_BY_NULL_ONLY = frozenset(
    {"ios_behavior", "android_behavior", "max_clicks", "password"}
    | {name for name in CLEARABLE_TOLD_FIELDS if not isinstance(TOLD_FIELDS[name], Text)}
)
_LIMITS = frozenset({*LIMIT_FIELDS, "password_hash"})
_FIXED = frozenset({"domain", "selected_path"})
_GROUPED = frozenset({*UTM_FIELDS, *SOCIAL_FIELDS, *FALLBACK_FIELDS})

# Why the operator stopped a link.
HOLD_REASON = Text(1000, shown=True)
# What another service counted for an imported link, and who that was.
MOST_IMPORTED_CLICKS = 10**15
IMPORTED_FROM = Text(100, shown=True)

# Letters and digits that are not confused when they are read aloud or copied by hand.
PATH_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
GENERATED_PATH_LENGTH = 6

# Field names with their parsed values; None clears an optional field.
Changes = dict[str, Any]
Rules = Mapping[str, Rule[Any]]
_STATE = frozenset({"is_enabled", "is_archived"})


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
        fields, made = self.fields, now.replace(microsecond=0)
        told = {name: fields[name] for name in TOLD_FIELDS if name in fields}
        return Link(
            id=link_id,
            org_id=org_id,
            domain=self.domain,
            path=path,
            destination_url=fields["destination_url"],
            link_name=fields["link_name"],
            created_at=made,
            modified_at=made,
            created_by=created_by,
            is_enabled=fields.get("is_enabled", True),
            ios_behavior=fields.get("ios_behavior") or Behavior.BROWSER,
            android_behavior=fields.get("android_behavior") or Behavior.BROWSER,
            utm=_set_ones(fields, UTM_FIELDS),
            social=_set_ones(fields, SOCIAL_FIELDS),
            fallbacks=_set_ones(fields, FALLBACK_FIELDS),
            custom_data=fields.get("custom_data"),
            limits=NO_LIMITS.changed(fields),
            tag_ids=fields.get("tag_ids", []),
            rules=fields.get("rules", []),
            **{"adds_link_id": not is_signed(fields["destination_url"]), **told},
        )


def parse_new_link(body: Mapping[str, object], rules: Rules = CREATE_FIELDS) -> NewLink:
    """Read the body of a create-link request, or of another with these fields.

    Null means that a field is not set; for an optional text, so does an empty one. Raises MissingField or
    InvalidField, with the errors of all fields.
    """
    missing = [name for name in CREATE_REQUIRED if body.get(name) is None]
    present = {name: value for name, value in body.items() if name not in missing} if missing else body
    fields = _parse(present, rules, [MissingField(name) for name in missing])
    return NewLink(fields.pop("domain"), fields.pop("selected_path", None), fields)


def parse_copy(body: Mapping[str, object], domain: str, rules: Rules) -> NewLink:
    """Read the body of a request for a copy of a link on this domain: any field of a new link, none required.

    Null clears an optional field. Raises InvalidField, with the errors of all fields.
    """
    fields = _parse(body, rules)
    return NewLink(fields.pop("domain", domain), fields.pop("selected_path", None), fields)


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


def parse_changes(body: Mapping[str, object], rules: Rules = UPDATE_FIELDS) -> Changes:
    """Read the body of a request that changes these fields of a link.

    Raises InvalidField, also for unknown fields, with the errors of all fields.
    """
    return _parse(body, rules)


def apply_changes(link: Link, changes: Changes, now: datetime) -> Link:
    """The link with these changes, also of its state, made at `now`; the same link if they change nothing.

    Raises InvalidField if an archived link would be enabled.
    """
    changed = _with_state(_with_fields(link, _with_signature(link, changes)), changes, now)
    if changed == link and is_same(changed.custom_data, link.custom_data):
        return link
    return replace(changed, modified_at=now.replace(microsecond=0))


def _with_signature(link: Link, changes: Changes) -> Changes:
    """The changes; where the destination is signed from now on, or no longer, also what that asks for."""
    before, after = link.destination_url, changes.get("destination_url", link.destination_url)
    if "adds_link_id" in changes or before == after or is_signed(before) == is_signed(after):
        return changes
    return changes | {"adds_link_id": not is_signed(after)}


def is_same(one: object, other: object) -> bool:
    """Whether two values are the same as JSON, which tells 1, 1.0 and true apart."""
    return one == other and repr(one) == repr(other)


def _with_fields(link: Link, changes: Changes) -> Link:
    plain: dict[str, Any] = {
        name: Behavior.BROWSER if value is None and OPTIONAL.get(name) is _BEHAVIOR else value
        for name, value in changes.items()
        if name not in _GROUPED and name not in _STATE and name not in _LIMITS
    }
    return replace(
        link,
        utm=_merge(link.utm, changes, UTM_FIELDS),
        social=_merge(link.social, changes, SOCIAL_FIELDS),
        fallbacks=_merge(link.fallbacks, changes, FALLBACK_FIELDS),
        limits=link.limits.changed(changes),
        **plain,
    )


def _with_state(link: Link, changes: Changes, now: datetime) -> Link:
    """The link archived, taken out of the archive as it was before, enabled or disabled."""
    if not changes.get("is_archived", link.is_archived):
        before = link.was_enabled if link.is_archived else link.is_enabled
        is_enabled = changes.get("is_enabled", before)
        return replace(link, is_enabled=is_enabled, archived_at=None, was_enabled=False)
    if changes.get("is_enabled"):
        raise InvalidField("is_enabled", "must not be true while the link is archived")
    if link.is_archived:
        return link
    was_enabled = changes.get("is_enabled", link.is_enabled)
    return replace(link, is_enabled=False, archived_at=now.replace(microsecond=0), was_enabled=was_enabled)


def _unknown(name: str) -> InvalidField:
    rule = "can't be changed" if name in _FIXED else "is not a field of this request"
    return InvalidField(shown_name(name), rule)


def _parse(body: Mapping[str, object], rules: Rules, missing: Sequence[FieldError] = ()) -> Changes:
    """The parsed fields of a body. Raises the errors of its fields, and those of the `missing` ones."""
    errors = [*missing, *map(_unknown, unknown_names(body, rules))]
    cleared: Changes = {name: None for name in rules if name in body and _is_cleared(name, body[name])}
    values = {name: value for name, value in body.items() if name not in cleared}
    if values.get("selected_path", "") is None:
        del values["selected_path"]
    fields = parse_fields(rules, values, errors)
    raise_all(errors)
    return cleared | fields


def _is_cleared(name: str, value: object) -> bool:
    if name not in CLEARABLE:
        return False
    return value is None or (value == "" and name not in CLEARED_BY_NULL_ONLY)


def _merge(old: Mapping[str, str], changes: Changes, names: tuple[str, ...]) -> dict[str, str]:
    return _set_ones({**old, **changes}, names)


def _set_ones(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name in names if name in fields and (value := fields[name]) is not None}
