"""People whom an identity provider tells. Each belongs to one organization, whoever else knows the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from backend.domain.accounts.roles import Role
from backend.domain.fields.email_addresses import InvalidEmail, normalize_email
from backend.domain.ids import OrgId, UserId

# Below this path of the API's host, providers tell people and groups.
SCIM_PATH = "/scim/v2"
MOST_PEOPLE = 10_000
MOST_EMAILS = 20


@dataclass(frozen=True, slots=True)
class ProvisionedEmail:
    """An e-mail address of a person, as the provider wrote it. `type` is such as "work"."""

    value: str
    type: str | None = None
    is_primary: bool | None = None


@dataclass(frozen=True, slots=True)
class ProvisionedPerson:
    """A person, as the identity provider of one organization describes them.

    `active` is what the provider said last; None where it said nothing. `is_active` is what holds: whoever
    was shut out is not let in again by silence. `name` has the parts of the name by SCIM's names for them.
    `user_id` is the account with which the person is, or was, a member; None as long as they have not come.
    `group_role` is the role that groups gave when it was last looked at; None if none did. `version` counts
    the changes.
    """

    id: str
    org_id: OrgId
    user_name: str
    created_at: datetime
    modified_at: datetime
    is_active: bool = True
    active: bool | None = True
    external_id: str | None = None
    display_name: str | None = None
    name: Mapping[str, str] = field(default_factory=dict)
    emails: tuple[ProvisionedEmail, ...] = ()
    user_id: UserId | None = None
    group_role: Role | None = None
    version: int = 1

    @property
    def email(self) -> str | None:
        """The address by which the person is recognized, in the form in which addresses are compared.

        It is the primary one, else that of work, else the first, else the user name. None if that is none.
        """
        ranked = sorted(
            self.emails, key=lambda email: (not email.is_primary, folded(email.type or "") != "work")
        )
        try:
            return normalize_email(ranked[0].value if ranked else self.user_name)
        except InvalidEmail:
            return None

    @property
    def shown_name(self) -> str:
        """What lists call the person."""
        return self.display_name or self.name.get("formatted") or self.user_name


def folded(text: str) -> str:
    """A text without upper case: SCIM tells user names and names of groups apart by no more."""
    return text.strip().lower()


def email_key(text: str) -> str:
    """By what two spellings of an address are known as one; of a text that is none, as `folded`."""
    try:
        return normalize_email(text)
    except InvalidEmail:
        return folded(text)
