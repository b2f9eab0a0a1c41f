"""Random histories that are stored as the service does it, for tests of who reads the feed."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.clicks.block import merged, unpack
from backend.domain.costs.cost import ToldCost
from backend.domain.errors import ItemUnknown
from backend.domain.fields.item_names import NameTaken
from backend.domain.ids import CustomerId, DeviceId, InstallId, LinkId, OrgId, TagId
from backend.domain.links.links import Link
from backend.domain.sales.refunds import Refund, ToldRefund
from backend.domain.visitors.persons import Subject
from backend.storage.apps import installs
from backend.storage.apps.installs import record_install
from backend.storage.clicks import blocks as click_blocks
from backend.storage.costs import costs
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.lifecycle.purge import delete_links
from backend.storage.links import links, tags
from backend.storage.links import purged as purged_links
from backend.storage.links.feed_facts import changed_fact, created_fact
from backend.storage.links.purged import add_purged_link
from backend.storage.outbox import entries
from backend.storage.sales.batches import store_batches
from backend.storage.sales.refunds import store_refunds
from backend.storage.visitors.identities import take_back
from tests.domain.sales import told_facts
from tests.domain.sales.shelf import START
from tests.facts.clicks import click, ship

_LINKS = tuple(LinkId(name) for name in ("l", "m", "n"))
_TAGS = ("Mail", "News")
_RECEIVED = START + told_facts.TOLD_FROM


@dataclass(frozen=True, slots=True)
class Act:
    """Something that somebody did. `which` and `other` say with what, by the kind of act."""

    what: str
    which: int = 0
    other: int = 0
    fact: told_facts.Fact | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a history takes place: a database that has nothing else."""

    database: Database
    org_id: OrgId = told_facts.ORG

    async def play(self, acts: Sequence[Act], first: int = 0) -> None:
        """Store all of these acts, which have numbers from this one on."""
        for number, act in enumerate(acts, first):
            await _ACTS[act.what](self, number, act)

    async def clear(self) -> None:
        """Take everything away."""
        for collection in COLLECTIONS:
            await self.database[collection.name].delete_many({})

    async def tell(self, number: int, act: Act) -> None:
        """A browser or a server tells something."""
        assert act.fact
        batch = replace(act.fact, number=number).batch(_RECEIVED + timedelta(hours=number))
        await store_batches(self.database, [batch])

    async def refund(self, number: int, act: Act) -> None:
        """A server tells of a refund."""
        at = _RECEIVED + timedelta(hours=number)
        refund = Refund(f"refund-{number}", Decimal("1.50"), "EUR", at - timedelta(minutes=1), at)
        order = told_facts.ORDERS[act.which % 2]
        await store_refunds(self.database, [ToldRefund(self.org_id, order, refund)])

    async def take_back(self, number: int, act: Act) -> None:
        """Somebody tells that a device was never a customer's."""
        device, customer = told_facts.DEVICES[act.which % 2], told_facts.CUSTOMERS[act.other % 2]
        at = _RECEIVED + timedelta(hours=number)
        await take_back(self.database, self.org_id, DeviceId(device), CustomerId(customer), at)

    async def erase(self, _: int, act: Act) -> None:
        """Somebody wants to be forgotten."""
        subjects = (
            Subject(customer_id=CustomerId(told_facts.CUSTOMERS[0])),
            Subject(device_id=DeviceId(told_facts.DEVICES[1])),
            Subject(install_id=InstallId("phone-0")),
        )
        await erase_subject(self.database, self.org_id, subjects[act.which % 3])

    async def click(self, number: int, act: Act) -> None:
        """Visitors follow links."""
        begin = START + timedelta(hours=7 * act.which, seconds=number)
        made = [
            click(self.org_id, _LINKS[n % 3], begin + timedelta(seconds=n * (act.other % 3 - 1)), visitor=n)
            for n in range(1 + act.other)
        ]
        await ship(self.database, made)

    async def merge(self, number: int, act: Act) -> None:
        """All blocks of a day become one."""
        day = START + timedelta(days=act.which % 2)
        stored = self.database[click_blocks.NAME]
        of_day = {"org_id": self.org_id, "last_at": {"$gte": day, "$lt": day + timedelta(days=1)}}
        found = await stored.find(of_day).to_list(None)
        if len(found) > 1:
            block = merged(self.org_id, [unpack(record["packed"]) for record in found])
            parts = click_blocks.merged_parts(
                part for record in found for part in click_blocks.parts_of(record)
            )
            document = {"_id": f"{self.org_id}/merged-{number}", **click_blocks.fields_of(block)}
            await stored.delete_many(of_day)
            await stored.insert_one(document | {"parts": parts})

    async def install(self, number: int, act: Act) -> None:
        """An app is launched for the first time."""
        link_id = (*_LINKS, None)[act.other % 4]
        own_id = InstallId(f"phone-{act.which}")
        at = START + timedelta(minutes=number)
        await record_install(self.database, Install(self.org_id, own_id, AppPlatform.IOS, link_id, at))

    async def put_link(self, number: int, act: Act) -> None:
        """A link is made, or changed. The id of one that is gone never comes again."""
        at = START + timedelta(minutes=number)
        own_id = _LINKS[act.which % 3]
        if await self.database[purged_links.NAME].find_one({"_id": own_id}):
            return
        link = Link(
            own_id,
            self.org_id,
            "go.example",
            own_id,
            "https://a.example",
            f"link {number}",
            at,
            at,
            utm={"utm_campaign": f"c{act.other}"} if act.other else {},
            tag_ids=[TagId("gone"), TagId("other")][: act.other],
        )

        async def work(session: ClientSession) -> None:
            before = await links.find_all(self.database, session, {"_id": own_id})
            fact = changed_fact(before[0], link, at) if before else created_fact(link, at)
            stored = links.to_document(link)
            await self.database[links.NAME].replace_one({"_id": own_id}, stored, upsert=True, session=session)
            await entries.note(self.database, session, {self.org_id: [fact]})

        await in_transaction(self.database, work)

    async def purge(self, number: int, act: Act) -> None:
        """A link is deleted for good, as storage/lifecycle/purge does it."""
        own_id = _LINKS[act.which % 3]
        if await links.find_link(self.database, own_id, self.org_id):
            of_link = {"org_id": self.org_id, "link_id": own_id}
            await self.database[installs.NAME].update_many(of_link, {"$set": {"link_id": None}})
            at = START + timedelta(minutes=number)
            await add_purged_link(self.database, own_id, self.org_id, at)
            await delete_links(self.database, {"_id": own_id}, at)

    async def tag(self, number: int, act: Act) -> None:
        """A tag is made, renamed, or deleted."""
        name = _TAGS[act.which % 2]
        with contextlib.suppress(NameTaken, ItemUnknown):
            if act.other == 0:
                await tags.create_tag(self.database, self.org_id, name, None, datetime.now(UTC))
            elif act.other == 1:
                await tags.change_tag(self.database, self.org_id, name, new_name=f"{name} {number}")
            else:
                await tags.delete_tag(self.database, self.org_id, name)

    async def cost(self, number: int, act: Act) -> None:
        """A cost is told, told anew, or deleted."""
        cost = ToldCost(f"campaign {act.which}", date(2026, 3, 1), Decimal(f"{number}.50"), "EUR")
        if act.other > 1:
            with contextlib.suppress(ItemUnknown):
                await costs.delete_cost(self.database, self.org_id, cost.id)
        else:
            await costs.tell_costs(self.database, self.org_id, [cost], datetime.now(UTC))


_ACTS: Mapping[str, Callable[[Stage, int, Act], Awaitable[None]]] = {
    "tell": Stage.tell,
    "refund": Stage.refund,
    "take_back": Stage.take_back,
    "erase": Stage.erase,
    "click": Stage.click,
    "merge": Stage.merge,
    "install": Stage.install,
    "put_link": Stage.put_link,
    "purge": Stage.purge,
    "tag": Stage.tag,
    "cost": Stage.cost,
}
_SMALL = st.integers(0, 2)
_TOLD = st.builds(Act, st.just("tell"), fact=told_facts.ANY)
_ACT = _TOLD | _TOLD | st.builds(Act, st.sampled_from(sorted({*_ACTS} - {"tell"})), _SMALL, _SMALL)
ACTS = st.lists(_ACT, min_size=1, max_size=12)
