"""The `costs` collection: what an organization's campaigns cost, by day and currency.

An id follows from campaign, day and currency, so what is told last replaces what was told before. The feed
notes each change, from which analytics has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from bson import Decimal128
from pymongo import IndexModel, ReplaceOne

from backend.domain.audit.entries import AuditTarget
from backend.domain.costs.cost import MOST_COSTS, Cost, ToldCost
from backend.domain.errors import InvalidField, ItemUnknown, TooManyItems
from backend.domain.feed.facts import Fact, cost_fact
from backend.domain.ids import OrgId
from backend.storage.audit.facts import note_facts, recorded_fact
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.outbox import entries
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "costs"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("day", -1), ("campaign", 1), ("currency", 1)])],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("it says what campaigns cost, and names nobody"),
    retention=NoRetention("the organization tells it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=NotAudited("storage/costs records it, many at once"),
)
_ORDER = [("day", -1), ("campaign", 1), ("currency", 1)]


@dataclass(frozen=True, slots=True)
class CostFilter:
    """Which costs are listed: from the day `first` up to before `end`, of one campaign, in one currency.

    None stands for all.
    """

    first: date | None = None
    end: date | None = None
    campaign: str | None = None
    currency: str | None = None

    def query(self, org_id: OrgId) -> Document:
        """The query for them."""
        days = ({"$gte": f"{self.first}"} if self.first else {}) | (
            {"$lt": f"{self.end}"} if self.end else {}
        )
        named = {"campaign": self.campaign, "currency": self.currency}
        others = {name: text for name, text in named.items() if text is not None}
        return {"org_id": org_id, **({"day": days} if days else {}), **others}


@dataclass(frozen=True, slots=True)
class ToldCosts:
    """What telling some costs did: how many were new, had another amount before, or were so already."""

    new: int
    replaced: int
    unchanged: int


async def tell_costs(
    database: Database, org_id: OrgId, costs: Sequence[ToldCost], now: datetime
) -> ToldCosts:
    """Store these costs, each in the place of what was told of its campaign, day and currency before.

    None of them may be there twice. All are stored, or none. Raises TooManyItems.
    """
    told_at = now.replace(microsecond=0)

    async def work(session: ClientSession) -> ToldCosts:
        before = await _amounts(database, session, org_id, costs)
        changed = [cost for cost in costs if before.get(cost.id) != cost.amount]
        new = [cost for cost in changed if cost.id not in before]
        if new:
            await _check_room(database, session, org_id, len(new))
        if changed:
            documents = [_document(org_id, cost, told_at) for cost in changed]
            writes = [
                ReplaceOne({"_id": document["_id"], "org_id": org_id}, document, upsert=True)
                for document in documents
            ]
            await database[NAME].bulk_write(writes, session=session)
            await entries.note(database, session, {org_id: [cost_fact(cost) for cost in changed]})
            audit = [_audit("told", cost, before.get(cost.id), cost.amount) for cost in changed]
            await note_facts(database, session, {org_id: audit})
        return ToldCosts(len(new), len(changed) - len(new), len(costs) - len(changed))

    return await in_transaction(database, work)


async def list_costs(
    database: Database,
    org_id: OrgId,
    chosen: CostFilter,
    *,
    limit: int,
    skip: int = 0,
    after: str | None = None,
) -> list[Cost]:
    """At most `limit` costs, the latest day first, then by campaign: behind the one with the id `after`.

    Raises InvalidField, naming `cursor`, where that one is gone.
    """
    query = chosen.query(org_id)
    if after is not None:
        query = {"$and": [query, await _behind(database, org_id, after)]}
    cursor = database[NAME].find(query).sort(_ORDER).skip(skip).limit(limit)
    return [from_document(document) async for document in cursor]


async def sum_costs(database: Database, org_id: OrgId, chosen: CostFilter) -> tuple[int, dict[str, Decimal]]:
    """How many costs there are, and what they come to in each currency."""
    sums = {"_id": "$currency", "costs": {"$sum": 1}, "amount": {"$sum": "$amount"}}
    cursor = database[NAME].aggregate([{"$match": chosen.query(org_id)}, {"$group": sums}])
    found = [document async for document in cursor]
    amounts = {document["_id"]: document["amount"].to_decimal() for document in found}
    return sum(document["costs"] for document in found), dict(sorted(amounts.items()))


async def delete_cost(database: Database, org_id: OrgId, cost_id: str) -> None:
    """Delete the cost: nothing is known of its campaign, day and currency any more. Raises ItemUnknown."""

    async def work(session: ClientSession) -> None:
        document = await database[NAME].find_one_and_delete(
            {"_id": f"{org_id}/{cost_id}", "org_id": org_id}, session=session
        )
        if document is None:
            raise ItemUnknown
        told = from_document(document).told
        await entries.note(database, session, {org_id: [cost_fact(told, is_known=False)]})
        await note_facts(database, session, {org_id: [_audit("deleted", told, told.amount, None)]})

    await in_transaction(database, work)


def from_document(document: Document) -> Cost:
    """The cost that is stored."""
    amount = document["amount"].to_decimal()
    day = date.fromisoformat(document["day"])
    told = ToldCost(document["campaign"], day, amount, document["currency"])
    return Cost(document["org_id"], told, document["told_at"])


def _audit(verb: str, cost: ToldCost, before: Decimal | None, after: Decimal | None) -> Fact:
    """The entry of the audit log: what a campaign's cost of a day was before, and is now."""
    old, new = (None if amount is None else {"amount": f"{amount}"} for amount in (before, after))
    target = AuditTarget("cost", cost.id, f"{cost.campaign}, {cost.day}, {cost.currency}")
    return recorded_fact(f"cost.{verb}", target, old, new)


def _document(org_id: OrgId, cost: ToldCost, told_at: datetime) -> Document:
    return {
        "_id": f"{org_id}/{cost.id}",
        "org_id": org_id,
        "campaign": cost.campaign,
        "day": cost.day.isoformat(),
        "amount": Decimal128(cost.amount),
        "currency": cost.currency,
        "told_at": told_at,
    }


async def _amounts(
    database: Database, session: ClientSession, org_id: OrgId, costs: Sequence[ToldCost]
) -> dict[str, Decimal]:
    """What is told now of the same campaigns, days and currencies, by id."""
    ids = [f"{org_id}/{cost.id}" for cost in costs]
    cursor = database[NAME].find({"_id": {"$in": ids}}, {"amount": 1}, session=session)
    return {document["_id"].partition("/")[2]: document["amount"].to_decimal() async for document in cursor}


async def _check_room(database: Database, session: ClientSession, org_id: OrgId, more: int) -> None:
    count = await database[NAME].count_documents({"org_id": org_id}, limit=MOST_COSTS, session=session)
    if count + more > MOST_COSTS:
        raise TooManyItems("campaign", MOST_COSTS, "costs")


async def _behind(database: Database, org_id: OrgId, after: str) -> Document:
    """The query for what comes behind this cost in the order of lists."""
    last = await database[NAME].find_one({"_id": f"{org_id}/{after}", "org_id": org_id})
    if last is None:
        raise InvalidField("cursor", "must be the next_cursor of an answer whose last cost is still there")
    day, campaign = last["day"], last["campaign"]
    return {
        "$or": [
            {"day": {"$lt": day}},
            {"day": day, "campaign": {"$gt": campaign}},
            {"day": day, "campaign": campaign, "currency": {"$gt": last["currency"]}},
        ]
    }
