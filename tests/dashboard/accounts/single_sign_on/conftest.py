"""Organizations that people enter by a provider."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.domain.accounts.single_sign_on.provider import IdentityProvider, redirect_uri, sign_in_path
from backend.domain.accounts.single_sign_on.refusals import RefusedSignIn
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.storage.accounts.single_sign_on.refused_sign_ins import list_refusals
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.accounts.users.users import find_managed_user, find_member_by_email
from backend.storage.driver.mongo import Database
from tests.dashboard.people import Person, browser
from tests.facts.organizations import TestOrganization
from tests.processes.identity_provider.provider_process import Provider, identity_providers

BASE_URL = "http://localhost:8080"
GROUP_ROLES = GroupRoles((GroupRole("Marketing", Role.EDITOR), GroupRole("IT", Role.OWNER)))


@dataclass(frozen=True, slots=True)
class Entrance:
    """An organization, its provider, and whoever comes through it."""

    service: Service
    database: Database
    provider: Provider
    org_id: OrgId
    start: str

    @asynccontextmanager
    async def guest(self, login: str = "") -> AsyncIterator[Person]:
        """A browser in which nobody is signed in."""
        async with browser(self.service) as client:
            yield Person(client, f"{login or secrets.token_hex(8)}@shop.example")

    async def has(self, person: Person, *groups: str, **claims: object) -> None:
        """Let the provider know the person, with a verified address."""
        known = {"email": person.email, "email_verified": True, "groups": list(groups)}
        await self.provider.has(person.email, **known | claims)

    async def begin(self, person: Person) -> str:
        """Where the browser is sent."""
        sent = await person.get(self.start)
        assert sent.status_code == 303, sent.text
        return sent.headers["location"]

    async def come(self, person: Person, *groups: str, **claims: object) -> httpx.Response:
        """Sign in by the provider, as somebody with these groups and claims; what the service answers."""
        await self.has(person, *groups, **claims)
        return await self.arrive(person, await self.provider.visit(await self.begin(person), person.email))

    async def arrive(self, person: Person, address: str) -> httpx.Response:
        """What the service answers to the browser that the provider sends back to it."""
        parts = urlsplit(address)
        return await person.get(f"{parts.path}?{parts.query}")

    async def account(self, person: Person) -> User:
        """The account that the person has in the organization, or had there as one of its provider's."""
        user = await find_member_by_email(self.database, self.org_id, person.email)
        user = user or await find_managed_user(self.database, self.org_id, person.email)
        assert user is not None
        return user

    async def refusals(self) -> list[RefusedSignIn]:
        """What the owner sees."""
        return await list_refusals(self.database, self.org_id)


@pytest.fixture(scope="package")
def providers() -> Iterator[list[Provider]]:
    """Two providers, of different people."""
    with identity_providers() as running:
        yield running


async def open_entrance(
    service: Service, database: Database, provider: Provider, organization: TestOrganization
) -> Entrance:
    """Let the provider's people into the organization."""
    client = await provider.register(redirect_uri(BASE_URL, organization.id))
    await set_provider(database, organization.id, IdentityProvider(provider.issuer, *client))
    await set_group_roles(database, organization.id, GROUP_ROLES)
    return Entrance(service, database, provider, organization.id, sign_in_path(organization.id))


@pytest.fixture
async def entrance(
    service: Service, database: Database, providers: list[Provider], organization: TestOrganization
) -> Entrance:
    """The organization with the first provider, two of whose groups have roles."""
    return await open_entrance(service, database, providers[0], organization)
