"""Pages of a task that has more documents than one transaction can have."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

import pytest
from pymongo.errors import OperationFailure, PyMongoError

from backend.storage.driver import mongo
from backend.storage.driver.mongo import ClientSession, Database, is_too_slow
from backend.storage.driver.page_size import PageSize

PAGE = 16
PauseBefore = Callable[[int], float]


async def stored(database: Database, pages: PageSize, pause: PauseBefore) -> list[int]:
    """Store a page of documents, each after a pause; gives the numbers of those that are stored then."""
    name = uuid.uuid4().hex

    async def store(session: ClientSession) -> None:
        for number in range(pages.now):
            await asyncio.sleep(pause(number))
            await database["pages"].insert_one({"of": name, "number": number}, session=session)

    try:
        await pages.transact(database, store)
    finally:
        numbers = [document["number"] async for document in database["pages"].find({"of": name})]
    return sorted(numbers)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction has to be over within a second."""
    monkeypatch.setattr(mongo, "TRANSACTION_SECONDS", 1.0)


@pytest.mark.usefixtures("short")
async def test_a_page_that_takes_too_long_is_halved(database: Database) -> None:
    """Until one gets through: nothing of the longer ones is stored, and the next begins with its size."""
    await database["pages"].insert_one({})
    pages = PageSize(PAGE)
    numbers = await stored(database, pages, lambda _: 0.2)
    assert 1 <= len(numbers) <= 4
    assert numbers == list(range(pages.now))
    before = pages.now
    assert await stored(database, pages, lambda _: 0.0) == list(range(before))


@pytest.mark.usefixtures("short")
async def test_one_document_that_takes_too_long_is_an_error(database: Database) -> None:
    """There is no half of it."""
    await database["pages"].insert_one({})
    pages = PageSize(2)
    with pytest.raises(PyMongoError) as refused:
        await stored(database, pages, lambda _: 1.2)
    assert is_too_slow(refused.value)
    assert pages.now == 1


@pytest.mark.parametrize(("code", "size"), [(257, 4), (388, 4), (11000, PAGE)])
async def test_what_the_server_says_is_too_large(database: Database, code: int, size: int) -> None:
    """It is halved; other errors are raised."""
    pages = PageSize(PAGE)

    async def fail(session: ClientSession) -> None:
        if pages.now > size or code == 11000:
            raise OperationFailure("no", code, {"code": code})

    if code == 11000:
        with pytest.raises(OperationFailure):
            await pages.transact(database, fail)
    else:
        await pages.transact(database, fail)
    assert pages.now == size
