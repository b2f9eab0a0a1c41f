"""Rules for what an archive has of an organization's single sign-on."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GROUP_RULE, MOST_GROUP_ROLES
from backend.domain.accounts.single_sign_on.provider import provider_fields
from backend.domain.fields.rules import Flag
from backend.storage.accounts.single_sign_on import settings
from backend.storage.lifecycle.archive_context import DocumentRule
from backend.storage.schema.document_fields import DocumentFields, list_of, nested, one_of, or_none

_GROUP_ROLE = DocumentFields({"group": GROUP_RULE.parse, "role": one_of(Role)})
_GROUP_ROLES = DocumentFields(
    {"mapping": list_of(nested(_GROUP_ROLE), MOST_GROUP_ROLES), "otherwise": or_none(one_of(Role))}
)
_PROVIDER_RULES = provider_fields(allows_loopback=True)
_PROVIDER = DocumentFields(
    {name: rule.parse for name, rule in _PROVIDER_RULES.items()}
    | {
        "email_domains": lambda name, value: list(_PROVIDER_RULES["email_domains"].parse(name, value)),
        "vouches_for_emails": Flag().parse,
    }
)
_SETTINGS = DocumentFields({}, {"group_roles": nested(_GROUP_ROLES), "provider": or_none(nested(_PROVIDER))})

RULES: Mapping[str, DocumentRule] = {settings.NAME: lambda document, _: _SETTINGS.check(document)}
