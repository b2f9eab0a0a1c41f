"""An organization that is deleted: nothing of it stays, and nothing of it can be used meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from backend.app import Service
from backend.archives.export import export_organization
from backend.archives.restore import restore_organization
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role
from backend.domain.ids import LinkId, OrgId
from backend.storage.accounts import api_keys, domains, organizations
from backend.storage.accounts.announced_deletions import announce_deletion
from backend.storage.accounts.deleted_organizations import (
    NAME,
    BeingDeleted,
    find_deleted,
    find_deletion,
    note_end,
)
from backend.storage.accounts.organizations import UnknownOrganization
from backend.storage.accounts.users import users
from backend.storage.accounts.users.acceptance import accept
from backend.storage.accounts.users.invitations import find_invitation, invite
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.logs import find_head
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.lifecycle import organization_deletion
from backend.storage.lifecycle.organization_deletion import delete_organization, finish_deletions
from backend.storage.links import links
from backend.storage.links.purged import add_purged_link
from backend.storage.processes import items
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, link_body
from tests.archives.full_organization import fill
from tests.conftest import OrganizationFactory
from tests.dashboard.people import make_user
from tests.facts.archives import store_file
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async

# After these a service goes on with a deletion, and looks for the last time.
SOON, LATER = timedelta(seconds=90), timedelta(minutes=3)


async def traces(database: Database, org_id: OrgId) -> dict[str, list[bytes]]:
    """Every document in which the organization's id stands anywhere, by collection; as MongoDB has it."""
    unread: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)
    documents: dict[str, list[bytes]] = {}
    for name in await database.list_collection_names():
        async for document in unrecorded(database).get_collection(name, codec_options=unread).find():
            if org_id.encode() in document.raw:
                documents.setdefault(name, []).append(document.raw)
    return documents


async def test_nothing_stays(
    client: httpx.AsyncClient, database: Database, make_organization: OrganizationFactory
) -> None:
    """Its id stands in no document any more but the one that says so; what others have stays as it was."""
    deleted, other = await make_organization(), await make_organization()
    link_ids = await fill(client, database, deleted)
    await fill(client, database, other)
    alone = await make_user(database, deleted.id)
    shared = await make_user(database, deleted.id, other.id)
    for owner in (deleted, other):
        await store_file(database, owner.id, utc_now())
        await announce_deletion(database, owner.id, alone, utc_now())
    before = await traces(database, other.id)
    counts = await delete_organization(database, deleted.id, utc_now())
    assert {name: len(stored) for name, stored in (await traces(database, deleted.id)).items()} == {NAME: 1}
    assert counts["links"] == len(link_ids) + 1  # one is archived
    assert await database["install_counts"].find_one({"org_id": deleted.id}) is None
    after = await traces(database, other.id)
    assert {name: len(stored) for name, stored in after.items()} == {
        name: len(stored) for name, stored in before.items()
    }
    assert await users.find_user_by_email(database, alone) is None
    member = await users.find_user_by_email(database, shared)
    assert member
    assert member.org_ids == (other.id,)
    with pytest.raises(UnknownOrganization):
        await delete_organization(database, OrgId("nobody"), utc_now())


async def interrupted(database: Database, org_id: OrgId) -> None:
    """Begin a deletion, and stop it as soon as nothing can be used any more."""
    deleting = asyncio.create_task(delete_organization(database, org_id, utc_now()))
    await wait_for_async(lambda: find_deleted(database, [org_id]), "the deletion begins")
    deleting.cancel()
    await asyncio.gather(deleting, return_exceptions=True)


async def test_a_deletion_that_is_interrupted(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    tmp_path: Path,
) -> None:
    """Keys are refused, its domain goes to nobody, no archive comes back; the service ends it by itself."""
    short_url = await create(client, organization)
    await export_organization(database, organization.id, tmp_path / "archive", lambda *_: None)
    await interrupted(database, organization.id)

    async def status() -> int:
        body = link_body(organization)
        return (await client.post(f"{API}/create-link", json=body, headers=organization.headers)).status_code

    await wait_for_async(status, "the key is refused", lambda code: code == 401)
    assert await api_keys.list_api_keys(database, organization.id) == []
    other = await make_organization()
    with pytest.raises(domains.DomainTaken):
        await domains.insert_domain(database, organization.domain, other.id, utc_now())
    with pytest.raises(BeingDeleted):
        await restore_organization(database, tmp_path / "archive", utc_now(), lambda _: None, lambda _: False)
    await finish_deletions(database, utc_now() + SOON)
    assert await links.count_links(database, organization.id) == 0
    assert await find_deletion(database, organization.id)
    await finish_deletions(database, utc_now() + LATER)  # looks once more for what came late
    assert await find_deletion(database, organization.id) is None
    await domains.insert_domain(database, organization.domain, other.id, utc_now())
    path = urlsplit(short_url).path
    assert (await client.get(path, headers={"host": organization.domain})).status_code == 404


async def test_many_members_leave_in_pieces(
    database: Database, make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction ends some memberships, whose number is bounded; after a kill, the next call goes on, and
    the deletion ends only once nobody was a member any more when it began. Another organization keeps its
    members."""
    deleted, other = await make_organization(), await make_organization()
    for _ in range(5):
        await make_user(database, deleted.id)
    shared = await make_user(database, deleted.id, other.id)
    monkeypatch.setattr(organization_deletion, "_USERS_PER_TRANSACTION", 2)
    transactions = 0

    async def killed_at_the_third(*given: Any) -> Any:
        nonlocal transactions
        transactions += 1
        if transactions == 3:
            raise InterruptedError
        return await in_transaction(*given)

    monkeypatch.setattr(organization_deletion, "in_transaction", killed_at_the_third)
    with pytest.raises(InterruptedError):
        await delete_organization(database, deleted.id, utc_now())
    assert len(await users.list_users(database, deleted.id)) == 2
    await finish_deletions(database, utc_now() + LATER)
    assert await users.list_users(database, deleted.id) == []
    assert await find_deletion(database, deleted.id)
    await finish_deletions(database, utc_now() + LATER)
    assert await find_deletion(database, deleted.id) is None
    [left] = await users.list_users(database, other.id)
    assert (left.email, left.org_ids) == (shared, (other.id,))


async def test_each_piece_is_done_once(
    client: httpx.AsyncClient,
    database: Database,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deletion ends even where a service has time for one piece of it in each of its rounds."""
    deleted, now = await make_organization(), utc_now()
    for number in range(4):
        await create(client, deleted)
        await add_purged_link(database, LinkId(f"{deleted.id}-{number}"), deleted.id, now)
    await interrupted(database, deleted.id)
    monkeypatch.setattr(organization_deletion, "_LINKS_PER_COMMAND", 1)
    monkeypatch.setattr(organization_deletion, "_MOST_SECONDS", 0.0)
    monkeypatch.setattr(items, "_TURN_SECONDS", 0.0)
    rounds = 0
    while await find_deletion(database, deleted.id) and rounds < 100:
        rounds += 1
        await finish_deletions(database, now + LATER)
    assert await find_deletion(database, deleted.id) is None
    assert set(await traces(database, deleted.id)) == {NAME}


async def test_nobody_joins_what_is_being_deleted(database: Database, organization: TestOrganization) -> None:
    """An invitation whose link is opened at that moment makes no account, which nobody would delete again."""
    org_id, everything, now = organization.id, frozenset(Permission), utc_now()
    token, _ = await invite(
        database, org_id, "late@shop.example", Role.VIEWER, invited_by="Ada", granted=everything, now=now
    )
    await interrupted(database, org_id)
    assert await find_invitation(database, token, now)
    assert await accept(database, token, now, password_hash="hash") is None
    assert await users.find_user_by_email(database, "late@shop.example") is None
    await finish_deletions(database, now + LATER)


async def test_who_began_a_deletion_is_left_alone_with_it(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """So that all that is deleted is in its counts; a service goes on with what was begun a while ago."""
    await create(client, organization)
    await place_all(database, organization.id)  # else a service may do so between two looks
    await interrupted(database, organization.id)
    before = await traces(database, organization.id)
    await finish_deletions(database, utc_now())
    assert await traces(database, organization.id) == before
    await finish_deletions(database, utc_now() + SOON)
    assert set(await traces(database, organization.id)) == {NAME}


async def test_the_command_goes_on_with_a_deletion(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Called again after an interruption, it deletes what is left."""
    await create(client, organization)
    await interrupted(database, organization.id)
    await delete_organization(database, organization.id, utc_now())  # or the service, which looks by itself
    assert set(await traces(database, organization.id)) == {NAME}


async def test_a_link_in_memory_stops(
    client: httpx.AsyncClient, service: Service, database: Database, organization: TestOrganization
) -> None:
    """A link that a process has in its cache leads nowhere, and the cache does not answer for it."""
    path = urlsplit(await create(client, organization)).path
    headers = {"host": organization.domain}
    assert (await client.get(path, headers=headers)).status_code == 302
    assert service.redirector.cache.current(organization.domain, path[1:])
    await delete_organization(database, organization.id, utc_now())

    async def status() -> int:
        return (await client.get(path, headers=headers)).status_code

    await wait_for_async(status, "the link leads somewhere", lambda code: code == 404)
    cache = service.redirector.cache
    await until(lambda: cache.current(organization.domain, path[1:]) is None, "it is in the cache")


async def test_clicks_that_come_later_are_left_out(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Clicks that had waited on a disk are not stored, unless an archive has brought the organization back;
    those of others are, and the log moves on."""
    caplog.set_level(logging.INFO, "backend.storage.clicks.blocks")
    other = await make_organization()
    await create(client, organization)
    [link] = await links.list_links(database, organization.id, skip=0, limit=9)
    archive = tmp_path / "archive"
    await export_organization(database, organization.id, archive, lambda *_: None)
    await delete_organization(database, organization.id, utc_now())
    late = [click(org_id, link.id, utc_now()) for org_id in (organization.id, organization.id, other.id)]
    await ship(database, late, "late" + other.id)
    assert (await find_head(database, "late" + other.id)).hashes.keys() == {other.id}
    assert len(await recorded_clicks(database, other.id)) == 1
    assert f"2 clicks are of the organization {organization.id}, which was deleted" in caplog.text
    assert set(await traces(database, organization.id)) == {NAME}
    await finish_deletions(database, utc_now() + LATER)
    await restore_organization(database, archive, utc_now(), lambda _: None, lambda _: False)
    assert await organizations.get_organization(database, organization.id)
    await ship(database, [click(organization.id, link.id, utc_now())])
    assert len(await recorded_clicks(database, organization.id)) == 1


async def test_an_organization_that_came_back_while_others_are_deleted(
    client: httpx.AsyncClient,
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that found its deletion unfinished before another one ended it leaves it as it is."""
    first, back = await make_organization(), await make_organization()
    await create(client, back)
    archive = tmp_path / "archive"
    await export_organization(database, back.id, archive, lambda *_: None)
    await interrupted(database, first.id)
    await interrupted(database, back.id)
    delete_rest = organization_deletion._delete_rest

    async def meanwhile(database: Database, org_id: OrgId) -> AsyncGenerator[Counter[str], None]:
        monkeypatch.undo()
        assert org_id == first.id
        assert [piece async for piece in delete_rest(database, back.id)]
        await note_end(database, back.id)
        await restore_organization(database, archive, utc_now(), lambda _: None, lambda _: False)
        async for piece in delete_rest(database, first.id):
            yield piece

    monkeypatch.setattr(organization_deletion, "_delete_rest", meanwhile)
    await finish_deletions(database, utc_now() + SOON)
    assert await links.count_links(database, back.id) == 1
    assert await domains.is_domain_of(database, back.domain, back.id)
    assert await links.count_links(database, first.id) == 0


async def test_a_deletion_that_ends_while_others_have_their_turn(
    database: Database, make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process ended it, and the organization may be back by its next turn: it is left as it is."""
    first, back = await make_organization(), await make_organization()
    await interrupted(database, first.id)
    await interrupted(database, back.id)
    gone_on = set()

    async def rest(database: Database, org_id: OrgId) -> AsyncGenerator[Counter[str], None]:
        yield Counter()
        await note_end(database, back.id)
        gone_on.add(org_id)

    monkeypatch.setattr(items, "_TURN_SECONDS", 0.0)
    monkeypatch.setattr(organization_deletion, "_delete_rest", rest)
    await finish_deletions(database, utc_now() + SOON)
    assert gone_on & {first.id, back.id} == {first.id}


async def test_clicks_that_are_under_way_when_a_deletion_begins(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who ships them found that the organization exists: they are stored, and the last look deletes them."""

    async def look_and_delete(
        database: Database, org_ids: Iterable[OrgId], session: ClientSession
    ) -> set[OrgId]:
        monkeypatch.undo()
        deleted = await find_deleted(database, org_ids, session)
        await delete_organization(database, organization.id, utc_now())
        return deleted

    monkeypatch.setattr(click_blocks, "find_deleted", look_and_delete)
    await ship(database, [click(organization.id, LinkId("link"), utc_now())])
    assert click_blocks.NAME in await traces(database, organization.id)
    await finish_deletions(database, utc_now() + LATER)
    assert {*await traces(database, organization.id)} == {NAME}
