"""Lets a person of an organization's provider in, as a user with the role of their groups."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import Session
from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson, check_address, check_domain
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.directory import identities, people
from backend.storage.accounts.single_sign_on.settings import admit_by, find_group_roles
from backend.storage.accounts.users import invitations, members, sessions, users
from backend.storage.accounts.users.deletion import delete_account
from backend.storage.driver.mongo import ClientSession, Database, in_transaction


async def admit(
    database: Database, org_id: OrgId, provider: IdentityProvider, person: ProvidedPerson, now: datetime
) -> User:
    """The user, who is a member of the organization with the role of their groups from now on.

    Raises SignInRefused. Somebody whom the provider let in before, and whose groups give no role any more, is
    no member from now on, and their sessions in the organization end.
    """

    async def work(session: ClientSession) -> User | None:
        # Of two changes of members at one moment the second one waits, and sees what the first one did.
        await admit_by(database, session, org_id, provider)
        return await _Admission(database, session, org_id, provider, person, now).decide()

    user = await in_transaction(database, work)
    if user is None:  # what the transaction did to a former member has to stay
        raise SignInRefused(Refusal.NO_ROLE, f"groups: {', '.join(person.groups) or 'none'}", person.email)
    return user


async def open_session(
    database: Database, org_id: OrgId, provider: IdentityProvider, session: Session
) -> None:
    """Store a new session of somebody whom the provider let in.

    Raises SignInRefused if the provider was replaced or taken away meanwhile, which ended its sessions.
    """

    async def work(transaction: ClientSession) -> None:
        await admit_by(database, transaction, org_id, provider)
        await sessions.insert_session(database, session, transaction)

    await in_transaction(database, work)


@dataclass(frozen=True, slots=True)
class _Admission:
    """The admission of one person, in one transaction."""

    database: Database
    session: ClientSession
    org_id: OrgId
    provider: IdentityProvider
    person: ProvidedPerson
    now: datetime

    async def decide(self) -> User | None:
        """The user; None if nobody is let in for want of a role. Raises SignInRefused."""
        user = await self._identified()
        role = await self._role(user)
        if user:
            check_domain(self.provider, self.person)
            if role:
                return await self._admit(user, role)
            await self._expel(user)
        if role is None:
            return None
        check_address(self.provider, self.person)
        user = await self._by_address() or await self._new(role)
        await identities.add_identity(
            self.database, self.org_id, user.id, self.person, now=self.now, session=self.session
        )
        return await self._admit(user, role)

    async def _role(self, user: User | None) -> Role | None:
        """The role of the person's groups. What the provider told by SCIM is newer than what a token says."""
        email = user.email if user else self.person.email
        user_id = user.id if user else None
        told = await people.find_told(self.database, self.org_id, user_id, email, self.session)
        if told and not told.is_active:
            raise SignInRefused(Refusal.SHUT_OUT, email=email)
        if told and told.group_role:
            return told.group_role
        group_roles = await find_group_roles(self.database, self.org_id, self.session)
        return group_roles.role_of(self.person.groups)

    async def _identified(self) -> User | None:
        user_id = await identities.find_identified(self.database, self.org_id, self.person, self.session)
        return await users.find_user(self.database, user_id, self.session) if user_id else None

    async def _by_address(self) -> User | None:
        """The organization's member with the person's address, or who was one and came by the provider. What
        accounts the address has elsewhere is not looked at: the provider can vouch for any address.

        Raises SignInRefused if the member is somebody else.
        """
        email = self.person.email
        await invitations.use_up(self.database, self.org_id, email, self.now, self.session)
        member = await users.find_member_by_email(self.database, self.org_id, email, self.session)
        user = member or await users.find_managed_user(self.database, self.org_id, email, self.session)
        if user is None or not await self._is_another_person(user):
            return user
        if member:
            raise SignInRefused(Refusal.ADDRESS_OF_ANOTHER, email=email)
        await delete_account(self.database, user.id, self.session)  # of somebody who has left
        return None

    async def _is_another_person(self, user: User) -> bool:
        """Whether the provider knows the user as somebody else, who had the address before."""
        issuer = self.person.issuer
        return await identities.is_identified(self.database, self.org_id, user.id, issuer, self.session)

    async def _new(self, role: Role) -> User:
        """An account of the organization's, to which nothing but its provider leads."""
        user = User(
            UserId(str(uuid.uuid4())),
            self.person.email,
            None,
            (self.org_id,),
            self.now,
            {self.org_id: role},
            managed_by=self.org_id,
        )
        await users.insert_user(self.database, user, self.session)
        return user

    async def _admit(self, user: User, role: Role) -> User:
        if not await members.is_last_owner(self.database, self.org_id, user.id, self.session):
            await members.put_role(self.database, self.org_id, user.id, role, self.session)
        await people.join_person(self.database, self.org_id, user.email, user.id, self.session)
        stored = await users.find_user(self.database, user.id, self.session)
        assert stored is not None
        return stored

    async def _expel(self, user: User) -> None:
        """End the user's sessions through the provider, and the membership unless SCIM decides about it."""
        await sessions.delete_provider_sessions(
            self.database, self.org_id, user_id=user.id, session=self.session
        )
        if await people.find_person_of(self.database, self.org_id, user.id, self.session):
            return
        if not await members.is_last_owner(self.database, self.org_id, user.id, self.session):
            await members.put_role(self.database, self.org_id, user.id, None, self.session)
