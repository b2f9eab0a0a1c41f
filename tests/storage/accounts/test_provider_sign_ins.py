"""Sign-ins through an identity provider that is taken away meanwhile."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import new_provider_session
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import SignInRefused
from backend.domain.ids import OrgId
from backend.storage.accounts.directory import identities
from backend.storage.accounts.single_sign_on.admission import admit, open_session
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.accounts.users import sessions
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization

PROVIDER = IdentityProvider("https://id.shop.example", "client", "secret")


async def sign_in(database: Database, org_id: OrgId) -> None:
    """Somebody new comes through the provider, and is in if it lets them in."""
    subject, now = secrets.token_hex(8), utc_now()
    person = ProvidedPerson(PROVIDER.issuer, subject, f"{subject}@shop.example", is_email_verified=True)
    with suppress(SignInRefused):
        user = await admit(database, org_id, PROVIDER, person, now)
        session = new_provider_session(secrets.token_urlsafe(32), user.id, org_id, now)
        await open_session(database, org_id, PROVIDER, session)


async def leave_provider(database: Database, org_id: OrgId) -> None:
    """Take the organization's provider away."""
    await set_provider(database, org_id, None)


@pytest.mark.parametrize(("work", "others"), [(sign_in, leave_provider), (leave_provider, sign_in)])
async def test_the_provider_is_taken_away_while_somebody_signs_in(
    organization: TestOrganization,
    database: Database,
    work: Callable[[Database, OrgId], Coroutine[Any, Any, None]],
    others: Callable[[Database, OrgId], Coroutine[Any, Any, None]],
) -> None:
    """Nobody is signed in or known by it afterwards, whichever comes between steps of the other."""
    org_id = organization.id
    await set_group_roles(database, org_id, GroupRoles((), Role.EDITOR))
    async for moment in moments(database):
        await set_provider(database, org_id, PROVIDER)
        await sign_in(database, org_id)
        await moment.interrupt(work(moment.database, org_id), partial(others, database, org_id))
        is_left = not moment.came and work is sign_in
        of_provider = {"provider_org_id": org_id}
        assert bool(await database[sessions.NAME].count_documents(of_provider)) is is_left
        assert bool(await database[identities.NAME].count_documents({"org_id": org_id})) is is_left
