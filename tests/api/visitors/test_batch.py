"""POST /serviceCore/sdk/v1/batch: what is stored, once each, and what is answered."""

from __future__ import annotations

import asyncio
import threading
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.app import Service, create_app
from backend.storage.driver.mongo import Database
from backend.storage.visitors import devices, records
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion, timestamp


async def make_link(client: httpx.AsyncClient, organization: TestOrganization, **fields: Any) -> str:
    """The id of a new link."""
    body = {
        "domain": organization.domain,
        "destination_url": "https://shop.example/",
        "link_name": "Kites",
        "ios_behavior": 1,
        "android_behavior": 1,
        **fields,
    }
    created = await client.post("/serviceCore/pa/v1/create-link", json=body, headers=organization.headers)
    assert created.status_code == 201, created.text
    answer = await client.post(
        "/serviceCore/pa/v1/links/info",
        json={"shortUrl": created.json()["short_url"]},
        headers=organization.headers,
    )
    return str(answer.json()["id"])


async def stored(database: Database, collection: str, visitor: Visitor) -> list[dict[str, Any]]:
    """What a collection holds of the visitor's organization, oldest first."""
    cursor = database[collection].find({"org_id": visitor.organization.id}).sort("at", 1)
    return [document async for document in cursor]


async def test_every_kind_is_accepted(visitor: Visitor, database: Database) -> None:
    """A batch with a call of each kind is answered in order, and each call is stored."""
    calls = [
        check(utm_source="news"),
        call("identify", customer_id="c-1", name="Ada", email_sha256="a" * 64),
        call("lead", event_id="l-1", client_timestamp="2026-03-01T12:00:00Z"),
        conversion(transaction_id="t-1", product_id="kite"),
        call("event", name="added_to_cart", metadata={"size": 1.5, "tags": ["a", None, True]}),
    ]
    results = await visitor.results(*calls)
    assert [result["call_id"] for result in results] == [sent["call_id"] for sent in calls]
    assert {result["status"] for result in results} == {"accepted"}
    for collection in ("contacts", "leads", "conversions", "events"):
        assert len(await stored(database, collection, visitor)) == 1
    (event,) = await stored(database, "events", visitor)
    assert event["metadata"] == {"size": 1.5, "tags": ["a", None, True]}
    assert event["device_id"] == visitor.device_id


async def test_json_is_accepted(visitor: Visitor) -> None:
    """A server-side caller may send application/json."""
    response = await visitor.post(conversion(), headers={"Content-Type": "application/json"})
    assert response.json()["results"][0]["status"] == "accepted"


async def test_a_link_gives_its_context(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A check with cl_link_id is answered with the link's fields, and nulls where it has none."""
    link_id = await make_link(
        client, organization, utm_source="news", utm_campaign="spring", custom_data={"seat": [1, 2]}
    )
    context = (await visitor.result(check(cl_link_id=link_id)))["attribution"]
    assert context == {
        "cl_link_id": link_id,
        "utm_source": "news",
        "utm_medium": None,
        "utm_campaign": "spring",
        "utm_term": None,
        "utm_content": None,
        "custom_data": {"seat": [1, 2]},
    }


async def test_the_address_wins_over_the_link(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """UTM signals of the address stand over the link's own fields."""
    link_id = await make_link(client, organization, utm_source="news", utm_campaign="spring")
    context = (await visitor.result(check(cl_link_id=link_id.upper(), utm_source="friend")))["attribution"]
    assert (context["cl_link_id"], context["utm_source"], context["utm_campaign"]) == (
        link_id,
        "friend",
        "spring",
    )


async def test_links_that_do_not_hold(
    visitor: Visitor, client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """Another organization's link, an unknown and a malformed one all count as organic, and say the same."""
    foreign = await make_link(client, await make_organization(), utm_source="secret")
    results = await visitor.results(
        *(check(cl_link_id=link_id) for link_id in (foreign, str(uuid.uuid4()), "x' || 1==1"))
    )
    assert {result["status"] for result in results} == {"accepted"}
    assert {result["attribution"] for result in results} == {None}
    assert {*map(str, (result["notes"] for result in results))} == {str(results[0]["notes"])}
    (device,) = await stored(database, "devices", visitor)
    assert device["first_touch"] is None


async def test_an_organic_visit_has_no_context(visitor: Visitor) -> None:
    """A first visit without a signal is answered with null."""
    result = await visitor.result(call("attribution", signals={}))
    assert result["attribution"] is None
    assert "notes" not in result


async def test_an_ad_click_has_a_context_of_nulls(visitor: Visitor, database: Database) -> None:
    """An ad click id alone is no organic visit; the device keeps every one."""
    context = (await visitor.result(check(gclid="g1")))["attribution"]
    assert set(context.values()) == {None}
    await visitor.results(check(gclid="g2", fbclid="f1"), check(gclid="g1"))
    (device,) = await stored(database, "devices", visitor)
    kept = sorted((click_id["name"], click_id["value"]) for click_id in device["click_ids"])
    assert kept == [("fbclid", "f1"), ("gclid", "g1"), ("gclid", "g2")]


async def test_a_conversion_has_the_touch_of_its_moment(visitor: Visitor, database: Database) -> None:
    """What happened between two touches has the first of them, also where it arrives last."""
    await visitor.results(
        check(ago=timedelta(minutes=30), utm_source="first"),
        check(ago=timedelta(minutes=10), utm_source="second"),
        conversion(),
    )
    await visitor.results(
        call("lead", ago=timedelta(minutes=20)), call("event", ago=timedelta(hours=1), name="e")
    )
    ((lead,), (bought,), (event,)) = [
        await stored(database, collection, visitor) for collection in ("leads", "conversions", "events")
    ]
    assert lead["touch"]["utm"] == {"utm_source": "first"}
    assert bought["touch"]["utm"] == {"utm_source": "second"}
    assert bought["first_touch"]["utm"] == {"utm_source": "first"}
    assert event["touch"] is None


async def test_a_call_is_stored_once(visitor: Visitor, database: Database) -> None:
    """A call_id delivered again is answered as a duplicate: in the batch, in another, under another kind."""
    first = conversion()
    again = call("event", name="other") | {"call_id": first["call_id"]}
    statuses = [result["status"] for result in await visitor.results(first, first)]
    statuses += [(await visitor.result(event))["status"] for event in (first, again)]
    assert statuses == ["accepted", "duplicate", "duplicate", "duplicate"]
    assert len(await stored(database, "conversions", visitor)) == 1
    assert await stored(database, "events", visitor) == []


async def test_a_repeated_check_gets_its_context_again(visitor: Visitor, database: Database) -> None:
    """The answer to the first delivery may have been lost; the touch counts once."""
    visit = check(utm_source="news")
    first, second = await visitor.result(visit), await visitor.result(visit)
    assert (first["status"], second["status"]) == ("accepted", "duplicate")
    assert first["attribution"] == second["attribution"]
    (device,) = await stored(database, "devices", visitor)
    assert len(device["touches"]) == 1


async def test_call_ids_are_each_organizations_own(
    visitor: Visitor, client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Another organization can't take a call_id or a transaction_id away."""
    other = Visitor(client, await make_organization())
    bought = conversion(transaction_id="same")
    assert (await visitor.result(bought))["status"] == "accepted"
    assert (await other.result(bought))["status"] == "accepted"


async def test_a_transaction_counts_once(
    visitor: Visitor, client: httpx.AsyncClient, database: Database
) -> None:
    """Two conversions with the same transaction_id count once, on whatever device they are reported."""
    other = Visitor(client, visitor.organization)
    assert (await visitor.result(conversion(transaction_id="t-1")))["status"] == "accepted"
    assert (await other.result(conversion(transaction_id="t-1", revenue=5)))["status"] == "duplicate"
    assert (await other.result(call("lead", event_id="t-1")))["status"] == "accepted"
    assert (await other.result(call("lead", event_id="t-1")))["status"] == "duplicate"
    assert len(await stored(database, "conversions", visitor)) == 1
    assert len(await stored(database, "leads", visitor)) == 1


async def test_without_a_transaction_id_each_conversion_counts(visitor: Visitor, database: Database) -> None:
    """An absent, null or empty transaction_id tells nothing."""
    await visitor.results(conversion(), conversion(transaction_id=None), conversion(transaction_id=""))
    assert len(await stored(database, "conversions", visitor)) == 3


async def test_a_transaction_counts_once_under_concurrency(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Many devices report one transaction at the same moment: one is accepted, the others are duplicates."""
    browsers = [Visitor(client, organization) for _ in range(30)]
    results = await asyncio.gather(
        *(browser.result(conversion(transaction_id="busy"), sdk="js/test") for browser in browsers)
    )
    assert sorted(result["status"] for result in results) == ["accepted"] + ["duplicate"] * 29
    assert await database["conversions"].count_documents({"org_id": organization.id}) == 1


async def test_a_transaction_counts_once_in_several_processes(
    service: Service, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Two services on one database, each with its own group commits: still one is accepted."""
    other = create_app(service.settings)
    await other.startup()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=other), base_url="http://localhost:8080"
    ) as there:
        browsers = [Visitor(http, organization) for http in (client, there) for _ in range(10)]
        results = await asyncio.gather(
            *(browser.result(conversion(transaction_id="two")) for browser in browsers)
        )
    await other.shutdown()
    assert sorted(result["status"] for result in results) == ["accepted"] + ["duplicate"] * 19
    assert await database["conversions"].count_documents({"org_id": organization.id}) == 1


async def test_a_transaction_counts_once_for_years(
    visitor: Visitor, database: Database, clock: MovableClock
) -> None:
    """Years later a transaction and a lead are still known, and nothing of that ever expires."""
    once = [conversion(transaction_id="old"), call("lead", event_id="old")]
    assert [result["status"] for result in await visitor.results(*once)] == ["accepted"] * 2
    clock.offset = timedelta(days=5 * 365)
    again = [conversion(transaction_id="old"), call("lead", event_id="old")]
    assert [result["status"] for result in await visitor.results(*again)] == ["duplicate"] * 2
    indexes = await database["counted_once"].index_information()
    assert not [index for index in indexes.values() if "expireAfterSeconds" in index]


async def test_a_bad_call_does_not_sink_the_others(visitor: Visitor, database: Database) -> None:
    """Each call is validated by itself; the answer names the field and the rule."""
    bad = conversion(revenue=-1)
    results = await visitor.results(conversion(), bad, "nothing", conversion())
    assert [result["status"] for result in results] == ["accepted", "rejected", "rejected", "accepted"]
    assert results[1] == {
        "call_id": bad["call_id"],
        "status": "rejected",
        "error": {
            "errorMessage": "revenue must be a finite number of 0 or more",
            "fieldName": "revenue",
        },
    }
    assert results[2]["call_id"] is None
    assert len(await stored(database, "conversions", visitor)) == 2


async def test_money_is_exact(visitor: Visitor, database: Database) -> None:
    """Revenue is stored as the decimal that was written, with the currency's minor digits."""
    await visitor.send(
        b'{"api_key":"%s","device_id":"%s","sdk":"s","sent_at":"2026-01-01T00:00:00Z","calls":[{"kind":'
        b'"conversion","call_id":"%s","occurred_at":"2026-01-01T00:00:00Z","revenue":0.30000000000000004,'
        b'"currency":"eur"}]}'
        % (
            visitor.organization.web_key.encode(),
            visitor.device_id.encode(),
            str(uuid.uuid4()).encode(),
        )
    )
    (bought,) = await stored(database, "conversions", visitor)
    assert (str(bought["revenue"]), bought["currency"]) == ("0.30", "EUR")


async def test_a_sale_keeps_its_landing_whatever_the_way_took(visitor: Visitor, database: Database) -> None:
    """A check that was ten seconds on its way is older than the sale that the device made after it,
    whether the service got it first or last."""
    seconds = timedelta(seconds=1)
    first, second = (conversion(ago=9 * seconds, transaction_id=name) for name in ("1", "2"))
    landing = check(ago=10 * seconds, utm_source="ads")
    await visitor.result(first, sent_at=timestamp(8.9 * seconds))
    await visitor.result(landing, sent_at=timestamp(10 * seconds))
    await visitor.result(second)
    for sale in await stored(database, "conversions", visitor):
        assert sale["touch"]["utm"] == sale["first_touch"]["utm"] == {"utm_source": "ads"}
        assert sale["touch"]["at"] < sale["at"]


async def test_a_landing_and_a_sale_at_the_same_moment(
    service: Service, visitor: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two services store a device's check and its sale at once, and neither sees the other's: one of them
    begins again, and the sale has its landing."""
    await visitor.results(check(ago=timedelta(minutes=3), utm_source="before"), call("event", name="after"))
    other = create_app(service.settings)
    await other.startup()
    both_have_read = threading.Barrier(2)
    find_devices, readers = devices.find_devices, iter(range(2))

    def find_and_wait(*arguments: Any) -> Any:
        read = find_devices(*arguments)
        if next(readers, None) is not None:
            both_have_read.wait(timeout=20)
        return read

    monkeypatch.setattr(devices, "find_devices", find_and_wait)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=other), base_url="http://localhost:8080"
    ) as there:
        elsewhere = Visitor(there, visitor.organization, visitor.device_id)
        await asyncio.gather(
            visitor.result(check(ago=timedelta(minutes=2), utm_source="ads")),
            elsewhere.result(conversion(ago=timedelta(minutes=1))),
        )
    await other.shutdown()
    (sale,) = await stored(database, "conversions", visitor)
    assert sale["touch"]["utm"] == {"utm_source": "ads"}


async def test_a_late_landing_takes_over_a_bounded_history(
    visitor: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much a device did after a landing that arrives late, only so much of it is credited anew."""
    monkeypatch.setattr(records, "MOST_CREDITED", 3)
    await visitor.results(
        *(call("event", ago=timedelta(minutes=5 - minute), name=str(minute)) for minute in range(5))
    )
    await visitor.result(check(ago=timedelta(hours=1), utm_source="ads"))
    events = await stored(database, "events", visitor)
    assert [event["touch"] is not None for event in events] == [True, True, True, False, False]
