"""What the REST API needs beyond the app's common resources to store what servers tell."""

from __future__ import annotations

from collections.abc import Sequence

from backend.concurrency.group_commit import GroupCommit, NotStored
from backend.current import Resources, of_app, resources
from backend.domain.batches import Batch
from backend.domain.intake import Result
from backend.domain.server_calls import Teller
from backend.json_api.refusal import storage_unreachable
from backend.rest_api.blueprint import caller
from backend.storage.batches import store_batches
from backend.storage.mongo import is_unreachable
from backend.storage.organizations import find_retention_days


class SalesService:
    """The group commit for what servers tell, which all requests share; each is stored as a whole."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database

        async def store(requests: Sequence[Sequence[Batch]]) -> list[list[Result]]:
            results = iter(await store_batches(database, [each for batches in requests for each in batches]))
            return [[next(results)[0] for _ in batches] for batches in requests]

        self.commit: GroupCommit[Sequence[Batch], list[Result]] = GroupCommit(
            store, is_unreachable, size_of=len
        )


async def current_teller() -> Teller:
    """The organization that the current request tells something for, now."""
    org_id = caller().org_id
    days = await find_retention_days(resources().database, [org_id])
    return Teller(org_id, days.get(org_id), resources().clock())


async def store_calls(batches: Sequence[Batch]) -> list[Result]:
    """Store these calls, all or none. Raises Refusal if the storage can't be reached."""
    if not batches:
        return []
    try:
        return await of_app(SalesService).commit.add(batches)
    except NotStored:
        raise storage_unreachable() from None
