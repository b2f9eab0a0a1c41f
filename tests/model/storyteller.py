"""Tells histories to the service, as browsers, servers and visitors do, and asks it for reports."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH
from tests.model.documented_reports import Key, Report
from tests.model.documented_rules import Rules
from tests.model.history import Fact, History, Telling
from tests.polling import wait_for_async

API = "/serviceCore/pa/v1"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
PATHS = {
    "sale": "conversions",
    "lead": "leads",
    "event": "events",
    "identity": "identities",
    "refund": "conversions/refund",
}
BROWSER_KINDS = {"visit": "attribution", "identity": "identify", "sale": "conversion"}
ITEMS = 1000  # that a server may tell at once
AT_ONCE = 16  # requests
ROWS = 5000  # of a page
Item = dict[str, Any]


def beginning() -> datetime:
    """Where histories begin: so long ago that all of them are over, and that no id has been forgotten."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=19)


@dataclass
class Storyteller:
    """Tells histories to one organization of the service."""

    client: httpx.AsyncClient
    organization: TestOrganization
    clock: MovableClock
    beginning: datetime = field(default_factory=beginning)
    click_ids: dict[str, str] = field(default_factory=dict)  # by the click's name
    link_ids: dict[str, str] = field(default_factory=dict)  # by name
    outcomes: dict[str, str] = field(default_factory=dict)  # the last one, by the fact's name

    async def tell(self, histories: Sequence[History]) -> None:
        """Make the links of these histories, and tell all of them, round by round."""
        self.set_clock(0)
        await self.call("PATCH", "event-properties", {"marked": ["plan"]})
        await self._make_links(histories)
        rounds: defaultdict[int, list[tuple[History, Telling]]] = defaultdict(list)
        for history in histories:
            for telling in history.tellings:
                rounds[telling.told].append((history, telling))
        for told in sorted(rounds):
            self.set_clock(told)
            await self._tell_round(rounds[told])
        self.clock.offset = timedelta()
        await self._rename_links(histories)
        await _all(self._purge(history, link) for history in histories for link in history.purged)
        await self._tell_costs(histories)

    async def _tell_costs(self, histories: Sequence[History]) -> None:
        costs = [
            {
                "campaign": history.campaign_of(cost),
                "day": f"{self.beginning.date() + timedelta(cost.day)}",
                "amount": float(cost.amount),
                "currency": cost.currency,
            }
            for history in histories
            for cost in history.costs
        ]
        for start in range(0, len(costs), ITEMS):
            await self.call("PUT", "costs", {"costs": costs[start : start + ITEMS]})

    @property
    def link_names(self) -> dict[str, str]:
        """The names of links by their ids."""
        return {link_id: name for name, link_id in self.link_ids.items()}

    def set_clock(self, at: int) -> None:
        """Let it be this time for the service."""
        self.clock.offset = self.beginning + timedelta(seconds=at) - datetime.now(UTC)

    async def _tell_round(self, told: Iterable[tuple[History, Telling]]) -> None:
        clicks: list[Coroutine[Any, Any, None]] = []
        requests: list[Coroutine[Any, Any, None]] = []
        items: defaultdict[str, list[tuple[History, Fact, Item]]] = defaultdict(list)
        for history, telling in told:
            if telling.by == "browser":
                requests.append(self._send_batch(history, telling))
                continue
            (fact,) = telling.facts
            if fact.kind == "click":
                clicks.append(self._click(history, fact))
            elif fact.kind == "take_back":
                requests.append(self._take_back(history, fact))
            else:
                items[PATHS[fact.kind]].append((history, fact, self._item(history, fact)))
        requests += [
            self._send_items(path, some[start : start + ITEMS])
            for path, some in items.items()
            for start in range(0, len(some), ITEMS)
        ]
        await _all(
            [*clicks, *requests]
        )  # a click happens when it is told of, and a sale may be 20 s after it

    async def _make_links(self, histories: Sequence[History]) -> None:
        made = [(history, link) for history in histories for link in history.links]
        operations = [
            {
                "op": "create",
                "link": {
                    "domain": self.organization.domain,
                    "destination_url": "https://shop.example/",
                    "link_name": history.name(link),
                    "selected_path": history.name(link),
                    "utm_campaign": history.name(f"link-{link}"),
                    "utm_source": history.name("source"),
                },
            }
            for history, link in made
        ]
        for (history, link), result in zip(made, await self._bulk(operations), strict=True):
            self.link_ids[history.name(link)] = result["id"]

    async def _rename_links(self, histories: Sequence[History]) -> None:
        await self._bulk(
            [
                {
                    "op": "update",
                    "id": self.link_ids[history.name(link)],
                    "link": {"utm_campaign": history.campaign(link)},
                }
                for history in histories
                for link in history.renamed
            ]
        )

    async def _purge(self, history: History, link: str) -> None:
        answer = await self.client.request(
            "DELETE",
            f"{API}/links/{self.link_ids[history.name(link)]}",
            params={"purge": "true", "force": "true"},
            headers=self.organization.headers,
        )
        assert answer.status_code == 204, answer.text

    async def _bulk(self, operations: Sequence[Item]) -> list[Item]:
        results: list[Item] = []
        for start in range(0, len(operations), ITEMS):
            body = {"operations": operations[start : start + ITEMS]}
            results += (await self.call("POST", "links/bulk", body))["results"]
        assert all(result["status"] in {"created", "updated"} for result in results), results
        return results

    async def call(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """A call of REST that must be answered."""
        answer = await self.client.request(
            method, f"{API}/{path}", json=body, params=query, headers=self.organization.headers
        )
        assert answer.status_code == 200, answer.text
        return json.loads(answer.text, parse_float=Decimal)

    async def _click(self, history: History, click: Fact) -> None:
        assert click.link is not None
        path = f"/{history.name(click.link)}"
        headers = {"host": self.organization.domain, "user-agent": BROWSER}

        async def follow() -> httpx.Response:
            return await self.client.get(path, headers=headers)

        # As a visitor does who is asked to try again, since the database was too slow.
        answer = await wait_for_async(follow, "no redirect", lambda given: given.status_code != 503)
        signals = parse_qs(urlsplit(answer.headers["location"]).query)
        (self.click_ids[history.name(click.id)],) = signals["cl_click_id"]

    async def _send_batch(self, history: History, telling: Telling) -> None:
        assert telling.device is not None
        body = {
            "api_key": self.organization.web_key,
            "device_id": history.device_id(telling.device),
            "sdk": "js/test",
            "sent_at": (self.clock() + timedelta(seconds=telling.skew)).isoformat(timespec="milliseconds"),
            "calls": [
                {
                    "kind": BROWSER_KINDS.get(fact.kind, fact.kind),
                    "call_id": _uuid(history, fact),
                    "occurred_at": self._time(fact.at + telling.skew),
                    "page": "https://shop.example/",
                    **self._fields(history, fact),
                }
                for fact in telling.facts
            ],
        }
        headers = {"Origin": self.organization.origin, "Content-Type": "text/plain;charset=UTF-8"}
        answer = await self.client.post(BATCH, content=json.dumps(body).encode(), headers=headers)
        assert answer.status_code == 200, answer.text
        self._keep([(history, fact) for fact in telling.facts], answer.json()["results"])

    def _item(self, history: History, fact: Fact) -> Item:
        """What a server tells."""
        item = {"occurred_at": self._time(fact.at), **self._fields(history, fact)}
        if fact.kind == "refund":
            assert fact.refund is not None
            return item | {"refund_id": history.name(fact.refund)}
        item["call_id"] = _uuid(history, fact)
        if fact.device is not None:
            item["device_id"] = history.device_id(fact.device)
        if fact.click is not None:
            item["click_id"] = self.click_ids[history.name(fact.click)]
        return item

    def _fields(self, history: History, fact: Fact) -> Item:
        """What browsers and servers tell alike, and the signals of a visit."""
        fields: Item = {}
        if fact.customer is not None:
            fields["customer_id"] = history.name(fact.customer)
        if fact.kind == "visit":
            fields["signals"] = self._signals(history, fact)
        if fact.kind == "event":
            fields["name"] = "seen"
            plans = {"pro": {"plan": "pro"}, "2.5": {"plan": 2.5, "of": {"plan": 1}}}
            fields["metadata"] = plans.get(fact.plan or "", {"plan": None})
        if fact.kind == "lead" and fact.key is not None:
            fields["event_id"] = history.name(fact.key)
        if fact.kind in {"sale", "refund"}:
            assert fact.amount is not None
            amount = "amount" if fact.kind == "refund" else "revenue"
            fields |= {amount: float(fact.amount), "currency": fact.currency}
            if fact.key is not None:
                fields["transaction_id"] = history.name(fact.key)
        return fields

    def _signals(self, history: History, visit: Fact) -> dict[str, str]:
        signals = {}
        if visit.link is not None:
            signals["cl_link_id"] = self.link_ids[history.name(visit.link)]
        if visit.click is not None:
            signals["cl_click_id"] = self.click_ids[history.name(visit.click)]
        if visit.campaign is not None:
            signals |= {"utm_campaign": history.name(visit.campaign), "utm_source": history.name("address")}
        if visit.has_ad:
            signals["gclid"] = f"ad-{visit.id}"
        return signals

    async def _send_items(self, path: str, told: Sequence[tuple[History, Fact, Item]]) -> None:
        results = (await self.call("POST", path, {"items": [item for *_, item in told]}))["results"]
        self._keep([(history, fact) for history, fact, _ in told], results)

    async def _take_back(self, history: History, fact: Fact) -> None:
        assert fact.device is not None
        assert fact.customer is not None
        wrong = {
            "device_id": history.device_id(fact.device),
            "customer_id": history.name(fact.customer),
        }
        answer = await self.client.request(
            "DELETE", f"{API}/identities", params=wrong, headers=self.organization.headers
        )
        assert answer.status_code in {204, 404}, answer.text
        self.outcomes[history.name(fact.id)] = "accepted" if answer.status_code == 204 else "rejected"

    def _keep(self, facts: Iterable[tuple[History, Fact]], results: Iterable[Item]) -> None:
        for (history, fact), result in zip(facts, results, strict=True):
            assert result["status"] != "rejected" or fact.kind == "refund", (fact.in_words(), result)
            self.outcomes[history.name(fact.id)] = result["status"]

    def _time(self, at: int) -> str:
        return (self.beginning + timedelta(seconds=at)).isoformat(timespec="milliseconds")

    async def answer(self, report: Report, measures: Sequence[str]) -> tuple[dict[Key, Item], Item]:
        """The service's answer to a report: the rows of all pages, and the totals."""
        first, end = report.period
        query = {
            "measures": list(measures),
            "group_by": list(report.group_by),
            "from": first,
            "to": end,
            "compare": "previous" if report.is_compared else None,
            "timezone": str(report.timezone),
            "currency": report.currency,
            "limit": ROWS,
            **self.rules(report.rules),
        }
        found: dict[Key, Item] = {}
        names = self.link_names
        while True:
            answer = await self.call("POST", "analytics/query", query)
            for row in answer["rows"]:
                values = (names.get(row[field], row[field]) for field in report.group_by)
                found[Key(tuple(values), row.get("kind"))] = row
            query["cursor"] = answer["next_cursor"]
            if query["cursor"] is None:
                return found, answer["totals"]

    def rules(self, rules: Rules) -> Item:
        """Rules as fields of a query."""
        asked: Item = {"credit": rules.credit, "model": rules.model}
        if rules.lookback_days is not None:
            asked["lookback_days"] = rules.lookback_days
        if rules.as_of is not None:
            asked["as_of"] = self._time(rules.as_of)
        return asked

    async def await_clicks(self, histories: Iterable[History]) -> None:
        """Wait until the clicks of these histories, which are all that were told, are there."""
        clicks = sum(telling.by == "visitor" for history in histories for telling in history.tellings)
        report = Report((), Rules(), self.beginning, UTC)

        async def answered() -> int:
            return int((await self.answer(report, ["clicks"]))[1]["clicks"])

        await wait_for_async(answered, "the clicks are not there", lambda count: count == clicks)

    async def explain(self, history: History, sale: str, rules: Rules) -> Any:
        """The service's explanation of a sale."""
        asked = {name: str(value) for name, value in self.rules(rules).items()}
        return await self.call("GET", f"conversions/{history.name(sale)}/explain", **asked)


def _uuid(history: History, fact: Fact) -> str:
    return history.device_id(f"call-{fact.id}")


async def _all(requests: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Send requests, some at once."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def send(request: Coroutine[Any, Any, None]) -> None:
        async with gate:
            await request

    async with asyncio.TaskGroup() as group:
        for request in requests:
            group.create_task(send(request))
