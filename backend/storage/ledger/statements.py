"""The `ledger_statements` collection: signed statements of each organization's ledger, one for each day.

Statements are only ever added. Each names the one before it (domain/ledger/statements).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import date

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.ids import OrgId
from backend.domain.ledger.books import SignedStatement
from backend.domain.ledger.statements import Statement
from backend.storage.driver.mongo import Database, Document, until_confirmed
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "ledger_statements"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("day", 1)])],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("numbers and hashes"),
    retention=NoRetention("what was signed stays to be checked"),
    archived=Stage.HISTORY,
    shard_key={"org_id": 1, "_id": 1},
    audited=NotAudited("it is no change by anybody, but what happened"),
)


async def add_statement(database: Database, signed: SignedStatement) -> bool:
    """Store the statement unless there is one for its day. Returns whether it is stored."""
    statement = signed.statement
    own_id = f"{statement.org_id}/{statement.day}"
    try:
        await database[NAME].insert_one({"_id": own_id, **asdict(statement), "signature": signed.signature})
    except DuplicateKeyError:
        await until_confirmed(database)
        return False
    return True


async def last_statement(database: Database, org_id: OrgId) -> Statement | None:
    """The organization's last statement."""
    document = await database[NAME].find_one({"org_id": org_id}, sort=[("day", -1)])
    return Statement.of(document) if document else None


async def statements_since(
    database: Database, org_id: OrgId, first: date | None = None
) -> AsyncIterator[SignedStatement]:
    """The organization's statements from this day on, or all."""
    condition: Document = {"org_id": org_id} | ({"day": {"$gte": first.isoformat()}} if first else {})
    async for document in database[NAME].find(condition).sort("day", 1):
        yield from_document(document)


def from_document(document: Document) -> SignedStatement:
    """The statement in this document. Raises ValueError if it has none."""
    return SignedStatement(Statement.of(document), str(document.get("signature")))
