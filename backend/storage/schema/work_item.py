"""An item of background work: one of many things for which the same is done."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document

ValueT_co = TypeVar("ValueT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class WorkItem(Generic[ValueT_co]):
    """One of many, such as an alert rule: its id, whose it is (None: the installation's), and what it is.

    `read` is called when its turn comes, so a document that can't be read is a failure of this item alone.
    The id names no person: it is logged, and stored where the item fails.
    """

    id: str
    org_id: OrgId | None
    read: Callable[[], ValueT_co]


async def items_of(
    documents: AsyncIterable[Document],
    read: Callable[[Document], ValueT_co],
    owner_in: str | None = "org_id",
) -> list[WorkItem[ValueT_co]]:
    """An item for each of these documents, which has its owner in the field `owner_in`; None: no owner."""
    return [
        WorkItem(str(document["_id"]), document.get(owner_in) if owner_in else None, partial(read, document))
        async for document in documents
    ]


async def items_in_turns(
    database: Database,
    name: str,
    due: Document,
    read: Callable[[Document], ValueT_co],
    *,
    since: str,
    limit: int,
) -> list[WorkItem[ValueT_co]]:
    """At most so many items that are due, of the collection with this name.

    Organizations take turns: the first item of each, by the field `since`, comes before the second of any. So
    one for which much is due delays no other.
    """
    turn = {"partitionBy": "$org_id", "sortBy": {since: 1}, "output": {"turn": {"$documentNumber": {}}}}
    ids = database[name].aggregate(
        [
            {"$match": due},
            {"$project": {"org_id": 1, since: 1}},
            {"$setWindowFields": turn},
            {"$sort": {"turn": 1, since: 1}},
            {"$limit": limit},
        ]
    )
    places = {document["_id"]: place for place, document in enumerate(await ids.to_list(None))}
    found = await items_of(database[name].find({"_id": {"$in": list(places)}}), read)
    return sorted(found, key=lambda item: places[item.id])


def item_of_organization(org_id: OrgId) -> WorkItem[OrgId]:
    """The organization itself."""
    return WorkItem(org_id, org_id, lambda: org_id)
