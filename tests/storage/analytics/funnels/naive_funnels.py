"""A naive model of funnels: all facts of each person, one by one, by domain/analytics/funnels/attempt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.funnels.answer import StepTimes
from backend.domain.analytics.funnels.attempt import DoneFact, best_attempt
from backend.domain.analytics.funnels.funnel import Funnel, FunnelStep
from backend.domain.analytics.query import LINK_FIELDS, Field, Not, QueryField
from backend.domain.sales.credit import share_by_histories
from backend.domain.sales.credit_rules import CreditTo
from backend.domain.sales.histories import Histories, History
from backend.domain.sales.told_facts import PlacedClick, SaleFacts
from backend.domain.visitors.attribution import Touch
from backend.storage.columns.rows.links import put_links, put_tags
from backend.storage.columns.tables.staged import milliseconds
from tests.storage.analytics.credited_histories import Told, at
from tests.storage.analytics.naive.counts import is_left
from tests.storage.analytics.tables import written

Person = tuple[Any, ...]
_UTM = {Field.CAMPAIGN: "utm_campaign", Field.SOURCE: "utm_source"}


@dataclass(frozen=True)
class KnownLink:
    """A link that is stored."""

    campaign: str | None
    tags: Sequence[str]


@dataclass(frozen=True)
class Stored:
    """What is stored: what was told, links and tags, and the countries of clicks by link and time."""

    told: Told
    links: Mapping[str, KnownLink]
    countries: Mapping[tuple[str, datetime], str | None]

    def write(self, connection: DuckDBPyConnection) -> None:
        """Put it into tables, in the place of what is there."""
        self.told.write(connection)
        names = {name for link in self.links.values() for name in link.tags}
        put_tags(connection, {f"id {name}": name for name in names})  # type: ignore[misc]
        put_links(connection, [_document(*entry) for entry in self.links.items()])
        catalog = written(connection).clicks_of(0)
        connection.executemany(
            f"""
            INSERT INTO {catalog}.clicks BY NAME
            SELECT link, $at AS "at", 1 AS block, 1 AS weight, $country AS country FROM links WHERE id = $link
            """,
            [{"link": "nothing", "at": 0, "country": None}]
            + [
                {"link": link, "at": milliseconds(clicked), "country": country}
                for (link, clicked), country in self.countries.items()
            ],
        )


def _document(link_id: str, link: KnownLink) -> dict[str, Any]:
    utm = {"utm_campaign": link.campaign} if link.campaign else {}
    tags = [f"id {name}" for name in link.tags]
    return {"_id": link_id, "domain": "d", "path": link_id, "link_name": "", "utm": utm, "tag_ids": tags}


@dataclass(frozen=True)
class Done:
    """Something that somebody did, with the touch that it is or that gets the credit for it."""

    kind: str
    at: int
    key: tuple[Any, ...]
    touch: Touch | None
    name: str | None = None


@dataclass
class NaiveFunnel:
    """What a funnel counts of what is stored, from `start` to `end`."""

    stored: Stored
    funnel: Funnel
    start: int
    end: int
    keys: Mapping[tuple[str, str], int]
    _histories: dict[str, History[Touch]] = field(init=False)

    def figures(self) -> dict[tuple[str | None, RowKind | None], list[StepTimes]]:
        """The figures of all groups by value and kind; of all people, by (None, None), without groups."""
        rules = self.funnel.rules
        self._histories = {device.id: History.of_device(device, rules) for device in self.stored.told.devices}
        everything = defaultdict(list)
        for person, done in (*self._records(), *self._clicks()):
            everything[person].append(done)
        reached: defaultdict[tuple[str | None, RowKind | None], list[list[DoneFact]]] = defaultdict(list)
        for history in everything.values():
            attempt = best_attempt(list(map(self._fact, history)), self.funnel, self.start, self.end)
            if attempt:
                done = next(candidate for candidate in history if candidate.key == attempt[0].key)
                for group in self._groups(done) if self.funnel.group_by else [(None, None)]:
                    reached[group].append(attempt)
        if not self.funnel.group_by:
            reached[None, None] += []
        return {group: self._steps(attempts) for group, attempts in reached.items()}

    def _steps(self, attempts: Sequence[Sequence[DoneFact]]) -> list[StepTimes]:
        steps = []
        for number in range(len(self.funnel.steps)):
            reached = [attempt for attempt in attempts if len(attempt) > number]
            times: list[int | None] = []
            for since in (number - 1, 0) if number and reached else ():
                took = sorted(abs(attempt[number].at - attempt[since].at) for attempt in reached)
                times += [took[ceil(len(took) * part / 10) - 1] for part in (5, 9)]
            steps.append(StepTimes(len(reached), *times))
        return steps

    def _fact(self, done: Done) -> DoneFact:
        steps = enumerate(self.funnel.steps)
        return DoneFact(done.at, {number for number, step in steps if self._is_step(step, done)}, done.key)

    def _records(self) -> Iterator[tuple[Person, Done]]:
        """Leads, events and conversions with the touches that get the credit."""
        told, rules = self.stored.told, self.funnel.rules
        facts, histories = told.facts(rules), list(self._histories.values())
        credit = share_by_histories(facts, histories, rules)
        for record, sale, credited in zip(told.records, facts, credit, strict=True):
            if person := self._person(sale):
                key = (record.kind.value, self.keys[record.kind.value, record.call_id], (True, 0))
                name = record.fields.get("name")
                yield person, Done(record.kind, milliseconds(sale.at), key, credited.shares[0].touch, name)

    def _person(self, sale: SaleFacts[Touch]) -> Person | None:
        """Whose a sale is."""
        customer = Histories(self._histories.values(), self.funnel.rules).customer_of(sale)
        if customer is not None and self.funnel.by is CreditTo.CUSTOMER:
            return ("customer", customer)
        if sale.device_id is not None:
            return ("device", sale.device_id)
        named = _named(sale)
        return self._teller(named) if named else None

    def _clicks(self) -> Iterator[tuple[Person, Done]]:
        """Each click of a person once."""
        told: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
        for history in self._histories.values():
            for told_at, _, device, _, touch, click, _ in history.visits:
                if touch and touch.link_id:
                    _, click_at, mark = click or (None, None, None)
                    person, done_at = self._owner(device, told_at), click_at or told_at
                    told[person, touch.link_id, click_at, mark, done_at].append(touch.variant or "")
        for sale in self.stored.told.facts(self.funnel.rules):
            named = _named(sale)
            if named and self._person(sale) == ("click", named):
                variants = [visit[2].variant or "" for visit in sale.visits if visit[2] and visit[3] == named]
                told[("click", named), *named, named[1]] += variants
        ids = sorted({key[1] for key in told} | set(self.stored.links))
        for (person, link_id, click_at, mark, done_at), variants in told.items():
            variant = min((candidate for candidate in variants if candidate), default=None)
            touch = Touch(done_at, link_id, {}, {}, None, variant, click_at)
            key = ("click", ids.index(link_id), (mark is None, mark or 0))
            yield person, Done("click", milliseconds(done_at), key, touch)

    def _owner(self, device: str, at: datetime) -> Person:
        owner = self._histories[device].owner_at(at) if self.funnel.by is CreditTo.CUSTOMER else None
        return ("customer", owner) if owner is not None else ("device", device)

    def _teller(self, click: PlacedClick) -> Person:
        """Who told of this click."""
        visits = [visit for history in self._histories.values() for visit in history.visits]
        told = [(visit[6], visit[2], visit[0], visit[3]) for visit in visits if visit[5] == click]
        if not told:
            return ("click", click)
        _, device, at, _ = min(told)
        return self._owner(device, at)

    def _is_step(self, step: FunnelStep, done: Done) -> bool:
        if done.kind != step.kind or (step.name is not None and done.name != step.name):
            return False
        touch, link = done.touch, self._link(done.touch)
        is_gone = touch is None or (touch.link_id is not None and link is None)
        if is_gone and not LINK_FIELDS.isdisjoint(step.filters):
            return False
        for name, chosen in step.filters.items():
            if name is not Field.TAG:
                passes = is_left(chosen, self._value(name, done))
            else:
                tags = link.tags if link and link.tags else [None]
                verdicts = [is_left(chosen, tag) for tag in tags]
                passes = all(verdicts) if isinstance(chosen, Not) else any(verdicts)
            if not passes:
                return False
        return True

    def _link(self, touch: Touch | None) -> KnownLink | None:
        return self.stored.links.get(touch.link_id) if touch and touch.link_id else None

    def _value(self, name: QueryField, done: Done) -> str | None:
        touch, link = done.touch, self._link(done.touch)
        utm = touch.utm.get("utm_campaign") if touch and touch.link_id is None else None
        clicked = (touch.link_id or "", touch.click_at or at(-1)) if touch else None
        values = {
            Field.LINK: touch.link_id if touch and link else None,
            Field.CAMPAIGN: link.campaign if link else utm,
            Field.VARIANT: touch.variant if touch else None,
            Field.EVENT: done.name,
            Field.COUNTRY: self.stored.countries.get(clicked) if clicked else None,
        }
        return values[Field(name)]

    def _groups(self, done: Done) -> list[tuple[str | None, RowKind | None]]:
        """The groups of somebody whose first step this is."""
        group_by, touch, link = self.funnel.group_by, done.touch, self._link(done.touch)
        assert group_by
        kind = None
        if group_by in LINK_FIELDS:
            if touch is None:
                kind = RowKind.NOT_CREDITED
            elif touch.link_id is not None and link is None:
                kind = RowKind.PURGED_LINKS
        if group_by is not Field.TAG:
            return [(self._value(group_by, done), kind)]
        chosen = self.funnel.steps[0].filters.get(Field.TAG)
        tags: Sequence[str | None] = link.tags if link and link.tags else [None]
        return [(tag, kind) for tag in tags if chosen is None or is_left(chosen, tag)]


def _named(sale: SaleFacts[Touch]) -> PlacedClick | None:
    """The first click that servers named for the sale."""
    clicks = [visit[3] for visit in sale.visits if visit[3]]
    return min(clicks, key=lambda click: (click[1], click[0] or "", click[2]), default=None)
