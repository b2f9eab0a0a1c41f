"""Devices that a former version stored get the touches back that only their records have."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.domain.visitors.attribution import TOUCHES_KEPT
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle import former_devices
from backend.storage.lifecycle.former_devices import complete_devices, count_former_devices
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion

MINUTE = timedelta(minutes=1)


async def former_device(database: Database, visitor: Visitor, *sources: str) -> None:
    """A device with a sale after each of its touches, of which its list has only the last."""
    for at, source in enumerate(sources):
        ago = 2 * (len(sources) - at) * MINUTE
        await visitor.results(check(ago=ago, utm_source=source), conversion(ago=ago - MINUTE))
    own = {"device_id": visitor.device_id}
    last = {"$set": {"touches": {"$slice": ["$touches", -1]}}}
    await database["devices"].update_one(own, [last, {"$unset": "direct_visits"}])


async def touches_of(database: Database, visitor: Visitor) -> list[str]:
    """The sources of the touches in the device's list."""
    found: Any = await database["devices"].find_one({"device_id": visitor.device_id})
    return [each["utm"]["utm_source"] for each in found["touches"]]


async def test_touches_come_back_from_records(
    database: Database, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """In their order, each once; a second run finds nothing to do."""
    visitor = Visitor(client, organization)
    await former_device(database, visitor, "a", "b", "c")
    assert await touches_of(database, visitor) == ["c"]
    await complete_devices(database)
    assert await touches_of(database, visitor) == ["a", "b", "c"]
    assert await count_former_devices(database) == await complete_devices(database) == 0


async def test_a_move_that_is_interrupted_goes_on(
    database: Database,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was done stays done, and the next run does the rest."""
    visitors = [Visitor(client, organization) for _ in range(3)]
    for each in visitors:
        await former_device(database, each, "a", "b")
    complete, done = former_devices._complete, 0

    async def fails(*given: Any) -> None:
        nonlocal done
        if done:
            raise ConnectionError
        done += 1
        await complete(*given)

    monkeypatch.setattr(former_devices, "_complete", fails)
    with pytest.raises(ConnectionError):
        await complete_devices(database)
    monkeypatch.undo()
    assert await count_former_devices(database) == 2
    assert await complete_devices(database) == 2
    assert [await touches_of(database, each) for each in visitors] == [["a", "b"]] * 3


async def test_a_list_keeps_the_latest(
    database: Database, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """However many touches records bring."""
    visitor = Visitor(client, organization)
    checks = [check(ago=(60 - at) * MINUTE, utm_source=str(at)) for at in range(40)]
    await visitor.results(*checks)
    await visitor.results(*(check(ago=(20 - at) * MINUTE, utm_source=str(40 + at)) for at in range(19)))
    assert len(await touches_of(database, visitor)) == TOUCHES_KEPT
    await visitor.results(conversion())
    await database["devices"].update_one({"device_id": visitor.device_id}, {"$unset": {"direct_visits": 1}})
    await complete_devices(database)
    assert (await touches_of(database, visitor))[0] == "9"
