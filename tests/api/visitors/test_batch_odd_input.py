"""Odd batches that are accepted: what is kept of them, and what the answer says of the rest."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.storage.driver.mongo import Database
from tests.facts.sdk_batches import Visitor, call, check, conversion, timestamp


@pytest.mark.parametrize(
    ("strange", "notes"),
    [
        (conversion(revenue=19.999), ["revenue was rounded to 20.00 EUR"]),
        (call("lead", email="a@b.c"), ["email was left out: it must be hashed; send email_sha256"]),
        (call("lead", phone="+1 2"), ["phone is unknown and was left out"]),
        (conversion(email="a@b.c"), ["email is unknown and was left out"]),
        (call("event", name="e", colour="red"), ["colour is unknown and was left out"]),
        (call("event", name="e") | {"page": "x" * 2049}, ["page was cut to 2048 characters"]),
        (call("attribution", signals={"ref": "x"}), ["signals.ref is unknown and was left out"]),
        (check(gclid="x" * 513), ["signals.gclid was cut to 512 characters"]),
        (check() | {"customer_id": "c"}, ["customer_id is unknown and was left out"]),
        (conversion(transaction_id="a\tb\n"), ["control characters in transaction_id were removed"]),
        (call("event", name="\x1b[2J"), ["control characters in name were removed"]),
        (call("event", name="\tsearch\n"), []),
        (call("event", name="cut\ud83d"), ["half characters (lone surrogates) in name were replaced"]),
        (
            call("lead", client_timestamp="2026-02-30"),
            ["client_timestamp was left out: it is no ISO 8601 time, such as 2026-03-01T12:00:00.000Z"],
        ),
        (
            call("event", name="e", metadata={"a": {"$where": "1", "$\x00": 1}}),
            [f"metadata.{name} was left out: no name may begin with $" for name in ("$where", "$�")],
        ),
        (
            call("event", name="e", metadata={"a\x00": 1, "b": ["\udc00"]}),
            ["half characters (lone surrogates) or NUL in metadata were replaced"],
        ),
    ],
)
async def test_what_is_not_kept_is_told(
    visitor: Visitor, database: Database, strange: Any, notes: list[str]
) -> None:
    """A call is accepted without what nobody knows or needs, says so, and nothing of that is stored."""
    result = await visitor.result(strange)
    assert (result["status"], result.get("notes", [])) == ("accepted", notes)
    for name in ("leads", "conversions", "events"):
        async for document in database[name].find({"org_id": visitor.organization.id}):
            assert not {"email", "phone", "colour"} & set(document)


async def test_an_unknown_field_of_the_envelope_is_left_out(visitor: Visitor) -> None:
    """The batch is taken without it; the answer says so."""
    response = await visitor.post(conversion(), tab="1")
    assert response.json()["notes"] == ["tab is unknown and was left out"]
    assert response.json()["results"][0]["status"] == "accepted"


@pytest.mark.parametrize(
    ("told", "stored"),
    [
        (" order-1\t\n", "order-1"),
        ("or\x00der\t-1", "order-1"),
        ("\ufeff\u3000order-1\u00a0", "order-1"),
        ("\ud83d", "�"),
        ("🛒" * 256, "🛒" * 256),
        ('"' * 256 + " ", '"' * 256),
    ],
)
async def test_ids_are_stored_as_they_are_looked_for(
    visitor: Visitor, database: Database, told: str, stored: str
) -> None:
    """Blanks around an id and control characters in it are no part of it; its length is in characters."""
    await visitor.results(
        conversion(transaction_id=told, customer_id=told, product_id=told), call("lead", event_id=told)
    )
    own = {"org_id": visitor.organization.id}
    (sale,) = [document async for document in database["conversions"].find(own)]
    assert [sale[name] for name in ("transaction_id", "customer_id", "product_id")] == [stored] * 3
    (lead,) = [document async for document in database["leads"].find(own)]
    assert lead["event_id"] == stored
    assert (await visitor.result(conversion(transaction_id=stored)))["status"] == "duplicate"


async def test_metadata_is_stored_as_it_can_be(visitor: Visitor, database: Database) -> None:
    """Numbers with decimals or beyond 64 bits become doubles; names with $ go, and the rest stays."""
    metadata = {
        "big": 2**64,
        "least": -(2**63),
        "half": 0.5,
        "$set": {"a": 1},
        "in": [{"$x": 1, "y": "\ud83d"}],
    }
    await visitor.results(call("event", name="e", metadata=metadata))
    (event,) = [document async for document in database["events"].find({"org_id": visitor.organization.id})]
    assert event["metadata"] == {"big": 2.0**64, "least": -(2**63), "half": 0.5, "in": [{"y": "�"}]}
    assert isinstance(event["metadata"]["big"], float)


async def test_strange_texts_are_kept_as_they_are(visitor: Visitor, database: Database) -> None:
    """What is a text is stored unchanged, whatever it would mean elsewhere."""
    values = ["' OR 1=1 --", "<script>", "$ne", "../..", "ﷺ", "👩‍👩‍👧", "a.b", "=1+1"]
    await visitor.results(
        *(
            call("event", name=value, product_id=value, metadata={value.replace("$", "_"): value})
            for value in values
        )
    )
    events = await database["events"].find({"org_id": visitor.organization.id}).to_list(None)
    kept = [(event["name"], event["product_id"], *event["metadata"].values()) for event in events]
    assert sorted(kept) == sorted((value, value, value) for value in values)


async def test_an_address_is_kept_readable(visitor: Visitor, database: Database) -> None:
    """Anyone can write anything into an address: the visit counts, what can't be read is replaced."""
    visit = check(utm_source="a\x00b", utm_term="cut\ud83d") | {"page": "https://shop.example/\x1b\ud83d"}
    result = await visitor.result(visit)
    assert result["attribution"]["utm_source"] == "a�b"
    assert result["attribution"]["utm_term"] == "cut�"


async def test_unknown_fields_are_named_readably(visitor: Visitor) -> None:
    """A field's hostile name does not come back as it was sent."""
    result = await visitor.result(call("event", name="e") | {"\x1b[2J" + "x" * 1000: 1})
    assert result["notes"] == [("�[2J" + "x" * 1000)[:64] + " is unknown and was left out"]


async def test_a_wrong_clock_counts_by_the_servers(visitor: Visitor, database: Database) -> None:
    """Years off, both ways: what the clock said is kept, and the call counts when it happened."""
    for clock in (timedelta(days=-20 * 365), timedelta(days=30 * 365)):
        event = call("event", name="e", ago=clock + timedelta(hours=1))
        await visitor.results(event, sent_at=timestamp(clock))
    now = datetime.now(UTC)
    events = [document async for document in database["events"].find({"org_id": visitor.organization.id})]
    assert len(events) == 2
    for event in events:
        assert abs(now - timedelta(hours=1) - event["at"]) < timedelta(minutes=1)
        assert abs(now - event["occurred_at"]) > timedelta(days=10 * 365)


async def test_a_clock_that_was_changed_counts_on_arrival(visitor: Visitor, database: Database) -> None:
    """Between the call and its delivery the clock jumped: the call counts when it was sent, as it arrived."""
    for ago in (timedelta(days=9), timedelta(hours=-1), timedelta(days=400)):
        await visitor.results(call("event", name="e", ago=ago))
    events = [document async for document in database["events"].find({"org_id": visitor.organization.id})]
    assert len(events) == 3
    assert max(abs(event["at"] - event["received_at"]) for event in events) < timedelta(seconds=10)


async def test_repeated_names(visitor: Visitor) -> None:
    """A repeated name in a JSON object is taken at its last value, as everywhere."""
    call_id = uuid.uuid4()
    text = json.dumps(visitor.envelope("CALL")).replace(
        '"CALL"',
        f'{{"kind":"lead","kind":"event","name":"a","name":"b","call_id":"{call_id}","occurred_at":"{timestamp()}"}}',
    )
    assert (await visitor.send(text.encode())).json()["results"][0]["status"] == "accepted"
