"""An item of background work: one of many things for which the same is done."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Document

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


def item_of_organization(org_id: OrgId) -> WorkItem[OrgId]:
    """The organization itself."""
    return WorkItem(org_id, org_id, lambda: org_id)
