"""Items of background work: what fails for one stops no other, and no process forgets its pause."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest
from bson import ObjectId
from pymongo.errors import AutoReconnect, ExecutionTimeout, OperationFailure, ServerSelectionTimeoutError

from backend.concurrency import background_task
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.processes import items as items_of_work
from backend.storage.processes.error_words import error_words
from backend.storage.processes.failing_items import NAME, FailingItem, count_failing, list_failing
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import WorkItem
from tests.facts.failing_items import end_pauses
from tests.fresh_database import fresh_database

WORK = Work.LEDGER
NEVER = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.fixture
async def own_database(database: Database) -> AsyncIterator[Database]:
    """A database in which no service works."""
    async with fresh_database(database) as fresh:
        yield fresh


class Tried:
    """Notes for which item work is done. It fails for those in `errors`."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.errors: dict[str, Exception] = {}

    async def __call__(self, item: str) -> None:
        if error := self.errors.get(item):
            raise error
        self.done.append(item)

    async def all(self, items: Sequence[str]) -> None:
        """Do it for all at once."""
        for item in items:
            await self(item)

    async def pieces(self, item: str) -> AsyncGenerator[None, None]:
        """Do it in two pieces. It fails in the second one."""
        self.done.append(f"{item} begins")
        yield
        await self(item)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the work that failed, each time."""
    told: list[str] = []
    monkeypatch.setattr(background_task, "when_failed", [told.append])
    return told


@pytest.fixture
def owner() -> OrgId:
    """An organization of which nothing else is stored."""
    return OrgId(uuid.uuid4().hex)


def items_named(owner: OrgId, names: Iterable[str]) -> list[WorkItem[str]]:
    """Items of an organization, each a letter."""
    return [WorkItem(f"{owner}/{name}", owner, partial(str, name)) for name in names]


async def failing(database: Database, owner: OrgId) -> FailingItem:
    """The one item of the organization that fails."""
    [item] = await list_failing(database, owner, WORK)
    return item


async def test_an_item_that_fails_waits_and_the_others_go_on(
    own_database: Database, owner: OrgId, told: list[str]
) -> None:
    """It is counted and logged, and left out for a pause that grows up to an hour, in whichever process; once
    it succeeds all is as before."""
    tried, abc = Tried(), items_named(owner, "abc")
    tried.errors["b"] = ValueError("bad")
    pauses = []
    for _ in range(12):
        for _ in range(2):  # the second time it waits
            await Items(own_database, WORK).each(abc, tried)  # as after a restart
        item = await failing(own_database, owner)
        document = await own_database[NAME].find_one({}, {"now": "$$NOW", "again_at": 1})
        assert document
        pauses.append(item.again_at - document["now"])
        await end_pauses(own_database, WORK)
    assert tried.done == ["a", "c"] * 24
    assert told == [WORK] * 12
    assert (await failing(own_database, owner)).tries == 12
    assert timedelta(seconds=2) < pauses[0] < timedelta(seconds=10)
    assert timedelta(minutes=25) < pauses[-1] < timedelta(hours=1)
    assert sum(later > earlier for earlier, later in pairwise(pauses)) >= 6
    tried.errors.clear()
    for _ in range(2):
        await Items(own_database, WORK).each(abc, tried)
    assert tried.done[-6:] == ["a", "b", "c"] * 2
    assert await list_failing(own_database, owner) == []


async def test_since_when_it_fails_and_why(own_database: Database, owner: OrgId) -> None:
    """It is noted for the organization that has it, and for no other."""
    tried = Tried()
    tried.errors["a"] = KeyError("kind")
    await Items(own_database, WORK).each(items_named(owner, "ab"), tried)
    first = await failing(own_database, owner)
    await end_pauses(own_database, WORK)
    tried.errors["a"] = InvalidField("zone", "is unknown")
    await Items(own_database, WORK).each(items_named(owner, "ab"), tried)
    second = await failing(own_database, owner)
    assert (first.item, first.org_id, first.error, first.tries) == (f"{owner}/a", owner, "KeyError: kind", 1)
    assert (second.since, second.tries) == (first.since, 2)
    assert second.error.startswith("InvalidField: zone")
    assert await list_failing(own_database, OrgId("another")) == []
    assert (await count_failing(own_database))[WORK] == 1
    assert (await count_failing(own_database))[Work.MAILS] == 0


async def test_what_can_not_be_read_is_that_item_s_failure(own_database: Database, owner: OrgId) -> None:
    """A document of another version, or a damaged one, stops no other."""
    tried = Tried()

    def unreadable() -> str:
        raise KeyError("name")

    items = [WorkItem(f"{owner}/x", owner, unreadable), *items_named(owner, "ab")]
    done = await Items(own_database, WORK).each(items, tried)
    assert tried.done == ["a", "b"]
    assert done == items[1:]
    await end_pauses(own_database, WORK)
    assert await Items(own_database, WORK).all(items, tried.all) == items[1:]
    assert tried.done == ["a", "b"] * 2


async def test_all_at_once_and_then_each_by_itself(own_database: Database, owner: OrgId) -> None:
    """Where one of them fails, the others are done all the same, and the next time without it."""
    tried, abc = Tried(), items_named(owner, "abc")
    tried.errors["b"] = ValueError("bad")
    items = Items(own_database, WORK)
    assert [item.read() for item in await items.all(abc, tried.all)] == ["a", "c"]
    tried.done.clear()
    assert [item.read() for item in await items.all(abc, tried.all)] == ["a", "c"]
    assert tried.done == ["a", "c"]
    tried.errors.clear()
    await end_pauses(own_database, WORK)
    assert await items.all(abc, tried.all) == abc
    assert await list_failing(own_database, owner) == []


async def test_items_take_turns(
    own_database: Database, owner: OrgId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with much to do delays no other one's. What fails ends, and what is left is for the next time."""
    monkeypatch.setattr(items_of_work, "_TURN_SECONDS", 0.0)
    tried, items, abc = Tried(), Items(own_database, WORK), items_named(owner, "abc")
    tried.errors["b"] = ValueError("bad")
    for tries in (1, 2):
        await items.in_turns(abc, tried.pieces)
        assert tried.done == ["a begins", "b begins", "c begins", "a", "c"]
        assert (await failing(own_database, owner)).tries == tries
        tried.done.clear()
        await items.in_turns(abc, tried.pieces)  # b waits
        assert tried.done == ["a begins", "c begins", "a", "c"]
        tried.done.clear()
        await end_pauses(own_database, WORK)
    tried.errors.clear()
    first, *later = abc
    of_both = [first, *items_named(OrgId("other"), "d"), *later]
    await items.in_turns(of_both, tried.pieces, seconds=0.0)  # however many items one of them has
    assert tried.done == ["a begins", "d begins"]
    assert (await failing(own_database, owner)).tries == 2
    await items.in_turns(abc, tried.pieces)
    assert tried.done[-3:] == ["a", "b", "c"]
    assert await list_failing(own_database, owner) == []


async def test_whatever_the_error_is(own_database: Database, owner: OrgId, told: list[str]) -> None:
    """Also where MongoDB gave one item up since it took too long."""
    for error in (ExecutionTimeout("slow"), KeyError("text"), RecursionError()):
        tried = Tried()
        tried.errors["a"] = error
        await Items(own_database, WORK).each(items_named(owner, "ab"), tried)
        assert tried.done == ["b"]
        await end_pauses(own_database, WORK)
    assert told == [WORK] * 3


@pytest.mark.parametrize("away", [AutoReconnect("gone"), ServerSelectionTimeoutError("no server")], ids=repr)
async def test_while_mongodb_is_away_nothing_is_any_item_s_fault(
    own_database: Database, owner: OrgId, told: list[str], away: AutoReconnect
) -> None:
    """The error is raised, so that all are tried again soon."""
    tried, items = Tried(), Items(own_database, WORK)
    tried.errors["a"] = away
    with pytest.raises(type(away)):
        await items.each(items_named(owner, "ab"), tried)
    with pytest.raises(type(away)):
        await items.all(items_named(owner, "ab"), tried.all)
    assert (tried.done, told) == ([], [])
    tried.errors.clear()
    await items.each(items_named(owner, "ab"), tried)
    assert tried.done == ["a", "b"]


async def test_who_waits_and_who_is_due_again(own_database: Database, owner: OrgId) -> None:
    """Queries leave out those that wait, and daily work looks again before the day is over."""
    tried, items = Tried(), Items(own_database, WORK)
    tried.errors["a"] = ValueError("bad")
    assert await items.failing() == {}
    await items.each(items_named(owner, "a"), tried)
    assert (await items.waiting(), await items.failing()) == ([f"{owner}/a"], {f"{owner}/a": True})
    await end_pauses(own_database, WORK)
    assert (await items.waiting(), await items.failing()) == ([], {f"{owner}/a": False})


async def test_what_fails_of_others_is_not_read(own_database: Database, owner: OrgId) -> None:
    """Where a thousand things of one organization fail, another one's are asked for by themselves."""
    tried, items, own = Tried(), Items(own_database, WORK), items_named(owner, "ab")
    failed = {"work": WORK.value, "org_id": "other", "again_at": NEVER}
    await own_database[NAME].insert_many([failed | {"item": f"other/{number}"} for number in range(1_000)])
    tried.errors["b"] = ValueError("bad")
    await items.all(own, tried.all)
    await own_database.command("profile", 2)
    await items.all(own, tried.all)
    await items.each(own, tried)
    await items.in_turns(own, tried.pieces)
    await items.each(own + items_named(owner, map(str, range(150))), tried)  # in two groups
    await own_database.command("profile", 0)
    finds = own_database["system.profile"].find({"ns": f"{own_database.name}.{NAME}", "op": "query"})
    assert [find["nreturned"] async for find in finds] == [1, 1, 1, 1, 0]
    await own_database["system.profile"].drop()
    assert tried.done.count("a") > tried.done.count("b") == 0


async def test_what_only_began_is_not_proven(own_database: Database, owner: OrgId) -> None:
    """Its pauses go on to grow until it is said that it succeeded."""
    tried, items, [item] = Tried(), Items(own_database, WORK), items_named(owner, "a")
    for tries in (1, 2):
        await items.each([item], tried, only_begins=True)
        await items.fail(item, ValueError("later"))
        assert (await failing(own_database, owner)).tries == tries
        await end_pauses(own_database, WORK)
    await items.succeed(item)
    assert await list_failing(own_database, owner) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("ada@shop.example owes 5"), "ValueError"),
        (KeyError("kind"), "KeyError: kind"),
        (KeyError("ada@shop.example"), "KeyError"),
        (KeyError(ObjectId()), "KeyError"),
        (KeyError(), "KeyError"),
        (InvalidField("mail_to", "has ada@shop.example"), "InvalidField: mail_to has …"),
        (OperationFailure("{ email: 'ada' }", 1, {"codeName": "Duplicate"}), "OperationFailure: Duplicate"),
        (OperationFailure("at mongodb://a:secret@host", 59), "OperationFailure: 59"),
        (TypeError("'<' not supported between\ninstances"), "TypeError: '<' not supported between instances"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_error(error: Exception, words: str) -> None:
    """Its class, and a text only where that has nobody's data."""
    assert error_words(error) == words
