"""Accepts invitations: what somebody has to show is said in domain/accounts/entry/who_gets_in.py."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from backend.domain.accounts.entry.who_gets_in import (
    Joining,
    LinkWay,
    as_told,
    joining,
    password_by_joining,
)
from backend.domain.accounts.invitations import MemberInvitation
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.errors import ItemUnknown
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.directory.people import join_person
from backend.storage.accounts.users import invitations, members, users
from backend.storage.accounts.users.deletion import delete_account
from backend.storage.accounts.users.new_passwords import put_password
from backend.storage.driver.mongo import ClientSession, Database, in_transaction


class MoreToShow(Exception):
    """The invitation takes something else to be accepted than was sent."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The user as a member now. With `has_new_password`, all their sessions have ended."""

    user: User
    org_id: OrgId
    has_new_password: bool


async def find_joining(
    database: Database, invitation: MemberInvitation, token: str, signed_in: User | None
) -> Joining:
    """What whoever opens the link with this token is told that it takes to accept the invitation. `signed_in`
    is whoever has shown an account's own sign-in."""
    account = await users.find_user_by_email(database, invitation.email)
    way, is_own = _way(invitation, token), _is_own_sign_in(account, signed_in)
    return as_told(joining(account, way, is_signed_in=is_own), way, is_signed_in=is_own)


async def accept(
    database: Database,
    token: str,
    now: datetime,
    *,
    signed_in: User | None = None,
    password_hash: str | None = None,
) -> Accepted | None:
    """Make whoever is invited a member. None if the invitation is not open any more.

    `signed_in` is whoever has shown an account's own sign-in, `password_hash` is of the password that they
    chose, which is not used where none is needed. Raises ItemUnknown where somebody else is signed in,
    MoreToShow, and EmailTaken if somebody with the address gets an account at this moment.
    """

    async def work(session: ClientSession) -> Accepted | None:
        invitation = await invitations.take_invitation(database, token, now, session)
        if invitation is None:
            return None
        if signed_in and signed_in.email != invitation.email:
            raise ItemUnknown
        return await _Acceptance(database, session, invitation, _way(invitation, token), now).decide(
            signed_in, password_hash
        )

    return await in_transaction(database, work)


@dataclass(frozen=True, slots=True)
class _Acceptance:
    """One acceptance, in a transaction that has used the invitation up."""

    database: Database
    session: ClientSession
    invitation: MemberInvitation
    way: LinkWay
    now: datetime

    async def decide(self, signed_in: User | None, password_hash: str | None) -> Accepted:
        account = await users.find_user_by_email(self.database, self.invitation.email, self.session)
        needed = joining(account, self.way, is_signed_in=_is_own_sign_in(account, signed_in))
        if account and needed is Joining.OWN_SIGN_IN:
            return await self._join(account, has_new_password=False)
        if needed is Joining.SIGN_IN_FIRST or password_hash is None:
            raise MoreToShow
        if account and needed is Joining.NEW_PASSWORD:
            await self._put_password(account, password_hash)
        else:
            if account:  # of whom no organization knows any more: whoever comes is not taken for them
                await delete_account(self.database, account.id, self.session)
            account = await self._new_account(password_hash)
        return await self._join(account, has_new_password=True)

    async def _put_password(self, account: User, password_hash: str) -> None:
        new = password_by_joining(self.way)
        await put_password(self.database, account, password_hash, new, self.session)

    async def _new_account(self, password_hash: str) -> User:
        made = User(
            UserId(str(uuid.uuid4())),
            self.invitation.email,
            password_hash,
            (),
            self.now,
            is_address_proved=password_by_joining(self.way).is_address_proved,
        )
        await users.insert_user(self.database, made, self.session)
        return made

    async def _join(self, account: User, *, has_new_password: bool) -> Accepted:
        org_id = self.invitation.org_id
        managed_role = await self._end_managed_account()
        if org_id not in account.org_ids:  # who became a member meanwhile keeps that role
            by_groups = await join_person(self.database, org_id, account.email, account.id, self.session)
            role = managed_role or by_groups or self.invitation.role
            await members.put_role(self.database, org_id, account.id, role, self.session)
        stored = await users.find_user(self.database, account.id, self.session)
        assert stored is not None
        return Accepted(stored, org_id, has_new_password)

    async def _end_managed_account(self) -> Role | None:
        """End the account that the organization's provider named with this address: from now on, the provider
        finds the member. The role that it had; None if it was no member."""
        org_id = self.invitation.org_id
        managed = await users.find_managed_user(self.database, org_id, self.invitation.email, self.session)
        if managed is None:
            return None
        await delete_account(self.database, managed.id, self.session)
        return managed.role_in(org_id) if managed.org_ids else None


def _way(invitation: MemberInvitation, token: str) -> LinkWay:
    return LinkWay.MAILED if invitation.is_mailed(token) else LinkWay.HANDED


def _is_own_sign_in(account: User | None, signed_in: User | None) -> bool:
    """Whether the account's own sign-in was shown. With a password that was replaced meanwhile, nobody is
    signed in any more."""
    return (
        account is not None
        and signed_in is not None
        and (account.id, account.password_hash) == (signed_in.id, signed_in.password_hash)
    )
