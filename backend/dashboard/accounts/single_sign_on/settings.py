"""/single-sign-on: whom the organization's identity provider lets in, and with which role.

An owner opens it to set it up, to see who was not let in, and to require it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from quart import Response

from backend.dashboard.frame.blueprint import came_by_provider, dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, text_of
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import ROLE_MEANINGS, Role
from backend.domain.accounts.single_sign_on.group_roles import MOST_GROUP_ROLES
from backend.domain.accounts.single_sign_on.provider import (
    DEFAULT_GROUPS_CLAIM,
    IdentityProvider,
    redirect_uri,
    sign_in_path,
)
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.single_sign_on.refused_sign_ins import list_refusals
from backend.storage.accounts.single_sign_on.settings import find_group_roles, find_provider
from backend.web.current import resources

_FREE_ROWS = 3
_ROLES = [(role.value, role.value.title()) for role in Role]
_NO_ROLE = ("", "None: they are not let in")
_EVERYBODY_ELSE = [_NO_ROLE, *((role.value, f"{role.value.title()}: {ROLE_MEANINGS[role]}") for role in Role)]


@dataclass(frozen=True, slots=True)
class ProviderForm:
    """The fields of the provider as they stand in the form. The secret is never shown."""

    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    email_domains: str = ""
    vouches_for_emails: bool = False
    groups_claim: str = DEFAULT_GROUPS_CLAIM

    @classmethod
    def sent(cls) -> ProviderForm:
        """What somebody sent."""
        texts = {name: field(name) for name in ("issuer", "client_id", "client_secret", "email_domains")}
        claim = field("groups_claim") or DEFAULT_GROUPS_CLAIM
        return cls(**texts, vouches_for_emails=field("vouches_for_emails") == "on", groups_claim=claim)

    @classmethod
    def of(cls, provider: IdentityProvider) -> ProviderForm:
        """What is stored, without the secret."""
        return cls(
            issuer=provider.issuer,
            client_id=provider.client_id,
            email_domains=" ".join(provider.email_domains),
            vouches_for_emails=provider.vouches_for_emails,
            groups_claim=provider.groups_claim,
        )


async def _stored() -> Mapping[str, str]:
    return {**await stored_provider(), **await stored_group_roles(), **await stored_requirement()}


async def stored_provider() -> Mapping[str, str]:
    """The fields of the provider's form."""
    provider = await find_provider(resources().database, org_id())
    fields = asdict(ProviderForm.of(provider) if provider else ProviderForm())
    return {name: text_of(value) for name, value in fields.items()}


async def stored_group_roles() -> Mapping[str, str]:
    """The fields of the form of groups."""
    rows, otherwise = await _stored_rows()
    texts = {"otherwise": otherwise, f"group-{len(rows)}": ""}  # so that a row less is another form, too
    for place, (group, role) in enumerate(rows):
        texts |= {f"group-{place}": group, f"role-{place}": role}
    return texts


async def _stored_rows() -> tuple[list[tuple[str, str]], str]:
    stored = await find_group_roles(resources().database, org_id())
    rows = [(group_role.group, group_role.role.value) for group_role in stored.mapping]
    return rows, stored.otherwise or ""


async def stored_requirement() -> Mapping[str, str]:
    """The field of the form that says who has to come through the provider."""
    organization = await get_organization(resources().database, org_id())
    return {"required": text_of(organization.requires_single_sign_on)}


@dashboard.get("/single-sign-on")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(_stored)
async def single_sign_on() -> Response:
    """The page with all forms."""
    return await single_sign_on_page({})


async def single_sign_on_page(
    problems: Mapping[str, str],
    *,
    form: ProviderForm | None = None,
    rows: Sequence[tuple[str, str]] = (),
    otherwise: str | None = None,
) -> Response:
    """The page with all forms, with what is wrong with a field, and what was typed in the place of what is
    stored."""
    database, base_url = resources().database, resources().settings.base_url
    provider = await find_provider(database, org_id())
    if otherwise is None:
        rows, otherwise = await _stored_rows()
    return await page(
        "accounts/single_sign_on.html",
        422 if problems else 200,
        problems=problems,
        provider=provider,
        form=form or (ProviderForm.of(provider) if provider else ProviderForm()),
        redirect_uri=redirect_uri(base_url, org_id()),
        sign_in_url=base_url + sign_in_path(org_id()),
        refusals=await list_refusals(database, org_id()),
        came_by_provider=came_by_provider(),
        rows=_with_free_rows(rows),
        otherwise=otherwise,
        roles=_ROLES,
        others=_EVERYBODY_ELSE,
    )


def _with_free_rows(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows up to the last one with a group, and some to fill in."""
    used = max((place + 1 for place, (group, _) in enumerate(rows) if group), default=0)
    free = min(_FREE_ROWS, MOST_GROUP_ROLES - used)
    return [*rows[:used], *[("", Role.VIEWER.value)] * free]
