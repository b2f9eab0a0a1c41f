"""What a collection says of itself, and what follows from it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pymongo import IndexModel

from backend.archives.export import export_organization
from backend.archives.restore import restore_organization
from backend.domain.ids import CustomerId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle import collections
from backend.storage.lifecycle.archived_documents import check
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.lifecycle.retention import set_retention
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    AgesFrom,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
    Personal,
    Stage,
)
from backend.storage.schema.document_fields import DocumentFields, text, time
from backend.storage.schema.ownership import ByField, ByLink, NotOwned
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.fresh_database import fresh_database

STATEMENTS: dict[str, Any] = {
    "name": "reviews",
    "indexes": [IndexModel([("org_id", 1), ("by", 1)])],
    "owned_by": ByField(),
    "personal": Personal(customer="by"),
    "retention": AgesFrom("written_at"),
    "archived": Stage.HISTORY,
    "shard_key": NotSharded("it is short"),
    "audited": NotAudited("customers write them"),
}
WRITTEN_AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def reviews(monkeypatch: pytest.MonkeyPatch) -> str:
    """A collection that is new: declared, in the list of all, with a rule for archives, and nothing else."""
    declared = collections.COLLECTIONS
    monkeypatch.setattr(collections, "COLLECTIONS", (Collection(**STATEMENTS), *declared))
    fields = DocumentFields({"by": text, "written_at": time})
    monkeypatch.setitem(check.RULES, "reviews", lambda document, _: fields.check(document))
    return "reviews"


@pytest.fixture
async def fresh(database: Database) -> AsyncIterator[Database]:
    """A database of this test's own, with its indexes."""
    async with fresh_database(database) as fresh:
        yield fresh


def review(org_id: OrgId, customer_id: str) -> Document:
    """A document of the new collection, about a customer."""
    return {"_id": uuid.uuid4().hex, "org_id": org_id, "by": customer_id, "written_at": WRITTEN_AT}


async def test_a_new_collection_is_exported_and_restored(
    reviews: str, database: Database, fresh: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """An organization's archive has its documents, and its indexes are there where it is restored."""
    mine = review(organization.id, "ada")
    await database[reviews].insert_many([mine, review(OrgId("another"), "ada")])
    file = tmp_path / "organization.jsonl"
    await export_organization(database, organization.id, file, lambda *_: None)
    await restore_organization(fresh, file, utc_now(), lambda _: None, lambda _: False)
    assert await fresh[reviews].find().to_list(None) == [mine]
    assert {"org_id_1_by_1", "expires_at_1"} <= (await fresh[reviews].index_information()).keys()


async def test_a_new_collection_is_handed_over_and_erased(
    reviews: str, database: Database, organization: TestOrganization
) -> None:
    """What names the person is found and deleted, and what names others stays."""
    hers, others = review(organization.id, "ada"), review(organization.id, "bob")
    elsewhere = review(OrgId("another"), "ada")
    await database[reviews].insert_many([hers, others, elsewhere])
    subject = Subject(customer_id=CustomerId("ada"))
    assert [exported async for exported in export_subject(database, organization.id, subject)] == [
        (reviews, hers)
    ]
    assert (await erase_subject(database, organization.id, subject))[reviews] == 1
    stored = {"_id": {"$in": [document["_id"] for document in (hers, others, elsewhere)]}}
    assert await database[reviews].find(stored).sort("by", 1).to_list(None) == [elsewhere, others]


async def test_a_new_collection_ages(
    reviews: str, database: Database, organization: TestOrganization
) -> None:
    """The organization's retention dates its documents, from the field that the collection names."""
    await database[reviews].insert_one(review(organization.id, "ada"))
    assert (await set_retention(database, organization.id, 30))[reviews] == 1
    document = await database[reviews].find_one({"org_id": organization.id})
    assert document
    assert document["expires_at"] == WRITTEN_AT + timedelta(days=30)


@pytest.mark.parametrize("missing", STATEMENTS)
def test_nothing_can_be_left_out(missing: str) -> None:
    """A collection that does not say whose it is, whom it is about, how long it stays, whether archives have
    it or how a cluster spreads it can't be declared."""
    with pytest.raises(TypeError, match=missing):
        Collection(**{name: value for name, value in STATEMENTS.items() if name != missing})


@pytest.mark.parametrize("statement", [NotPersonal, NoRetention, NotArchived, NotOwned, NotSharded])
def test_what_does_not_apply_has_a_reason(statement: type) -> None:
    """There is no opting out without saying why."""
    with pytest.raises(ValueError, match="needs a reason"):
        statement(" ")


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        ({"owned_by": NotOwned("it is ours")}, "must say whose it is"),
        ({"owned_by": ByLink("link_id")}, "must say whose it is"),
        ({"owned_by": ByLink(), "personal": NotPersonal("x")}, "must say whose it is"),
        (
            {"owned_by": NotOwned("x"), "personal": NotPersonal("x"), "retention": NoRetention("x")},
            "no archive can hold it",
        ),
    ],
)
def test_statements_agree(statements: dict[str, Any], sentence: str) -> None:
    """Nobody could ask for the data of visitors, or export what is nobody's."""
    with pytest.raises(ValueError, match=sentence):
        Collection(**STATEMENTS | statements)
