"""Invitations: links that an installation of an app makes, so that it is known who brought whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.errors import InvalidField, MissingField, raise_all, unknown_fields
from backend.domain.fields.install_ids import InstallIdText
from backend.domain.fields.rules import Rule, parse_fields
from backend.domain.ids import InstallId
from backend.domain.links.input import EXTERNAL_ID, OPTIONAL, REQUIRED, NewLink
from backend.domain.links.links import Behavior

INVITATION_REQUIRED: dict[str, Rule[Any]] = {
    "install_id": InstallIdText(),
    "external_id": EXTERNAL_ID,
    **REQUIRED,
}
INVITATION_FIELDS: dict[str, Rule[Any]] = INVITATION_REQUIRED | {"custom_data": OPTIONAL["custom_data"]}


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that an installation asks for."""

    install_id: InstallId
    external_id: str
    new: NewLink


def parse_invitation(body: Mapping[str, object], grant: LinkGrant) -> Invitation:
    """Read the body of a request for a link, of an app with this grant. The link opens the app on phones.

    Raises MissingField or InvalidField, with the errors of all fields.
    """
    given = {name: value for name, value in body.items() if value is not None}
    errors = unknown_fields(body, INVITATION_FIELDS)
    errors += [MissingField(name) for name in INVITATION_REQUIRED if name not in given]
    fields = parse_fields(INVITATION_FIELDS, given, errors)
    if "destination_url" in fields and not grant.allows(fields["destination_url"]):
        rule = f"must be an address that this app's links may lead to: {', '.join(grant.destinations)}"
        errors.append(InvalidField("destination_url", rule))
    raise_all(errors)
    install_id: InstallId = fields.pop("install_id")
    fields |= {"ios_behavior": Behavior.APP, "android_behavior": Behavior.APP}
    return Invitation(install_id, fields["external_id"], NewLink(grant.domain, None, fields))
