"""Accounts of people after a restore: what opens them, and what they may do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SecondFactor
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.organizations import list_organizations
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.restores import AlreadyTaken, LeftOutMember
from tests.archives.forging import Archive, forge, restore
from tests.archives.full_organization import PASSWORD_HASH
from tests.fresh_database import fresh_database

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = OrgId("other")
FACTOR = SecondFactor("A" * 32, 7, (), NOW)


def account_in(archive: Archive) -> User:
    """The account of the archive's member, as one that another organization has already."""
    [document] = [entry.document for entry in archive.entries if entry.collection == users.NAME]
    return User(UserId(document["_id"]), document["email"], "another hash", (OTHER,), NOW, {}, FACTOR)


async def test_nobody_has_shown_an_address_here(archive: Archive, database: Database, tmp_path: Path) -> None:
    """Whatever a file says: who made it may have written it."""
    proved = forge(
        archive,
        tmp_path,
        lambda name, document: document | {"is_address_proved": True} if name == users.NAME else None,
    )
    async with fresh_database(database) as fresh:
        await restore(fresh, proved)
        [restored] = await users.list_users_of_all(fresh)
        assert not restored.is_address_proved


@pytest.mark.parametrize(
    ("change", "keeps"),
    [
        ({}, False),
        ({"is_address_proved": True}, True),
        ({"password_hash": PASSWORD_HASH}, True),
    ],
)
async def test_a_known_account_joins(
    archive: Archive, database: Database, change: dict[str, object], keeps: bool
) -> None:
    """It keeps its sign-in if that is the person's, by a mail, or the one that the archive has.
    Another one may be a stranger's, who owns the other organization: it ends, and is set anew."""
    account = replace(account_in(archive), **change)  # type: ignore[arg-type]
    async with fresh_database(database) as fresh:
        await users.insert_user(fresh, account)
        await restore(fresh, archive.file)
        stored = await users.find_user(fresh, account.id)
        assert stored
        assert set(stored.org_ids) == {OTHER, archive.organization.id}
        left = (account.password_hash, account.second_factor) if keeps else (None, None)
        assert (stored.password_hash, stored.second_factor) == left


async def test_an_account_of_another_organizations_provider(archive: Archive, database: Database) -> None:
    """It is drawn into no other organization by an archive that names it."""
    account = replace(account_in(archive), managed_by=OTHER, password_hash=None, second_factor=None)
    async with fresh_database(database) as fresh:
        await users.insert_user(fresh, account)
        with pytest.raises(AlreadyTaken, match="with another address the user"):
            await restore(fresh, archive.file)
        assert (await users.list_users_of_all(fresh))[0].roles == {}


@pytest.mark.parametrize("is_address_proved", [False, True])
async def test_an_address_that_another_account_has(
    archive: Archive, database: Database, is_address_proved: bool
) -> None:
    """The organization is restored without that member, whom the restore names with the role. The account
    that is there, a stranger's perhaps, gets in by no file, and loses nothing by one."""
    account = replace(account_in(archive), id=UserId("squatter"), is_address_proved=is_address_proved)
    async with fresh_database(database) as fresh:
        await users.insert_user(fresh, account)
        before = await users.find_user(fresh, account.id)
        assert (await restore(fresh, archive.file)).left_out == [LeftOutMember(account.email, Role.OWNER)]
        assert await users.list_users_of_all(fresh) == [before]
        assert [found.id for found in await list_organizations(fresh)] == [archive.organization.id]
