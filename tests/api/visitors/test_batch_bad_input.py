"""Bad batches: the decided error that names the field and the rule, and nothing stored."""

from __future__ import annotations

import gzip
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from backend.storage.visitors.rejections import list_rejections
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, call, check, conversion, timestamp

HOSTILE_TEXTS = [
    "x" * 257,
    "🛒" * 257,
    7,
    1.5,
    True,
    ["a"],
    {"$gt": ""},
]


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


async def assert_nothing_stored(database: Database, visitor: Visitor) -> None:
    """No collection has anything of the visitor's organization."""
    for name in ("leads", "conversions", "events", "devices", "identities", "counted_once"):
        assert await database[name].count_documents({"org_id": visitor.organization.id}) == 0


def shape_a(response: httpx.Response, status: int) -> dict[str, str]:
    """The inner error of an answer in shape A."""
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) - {"errors"} == {"code", "errorMessage", "error"}
    inner: dict[str, str] = body["error"]
    return inner


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b"{", b'"text"', b"\xff\xfe", b'{"a":NaN}', b"[" * 30_000, b'{"a":1e' + b"9" * 30],
)
async def test_a_body_that_is_no_object(visitor: Visitor, body: bytes) -> None:
    """What is no JSON object in UTF-8 is refused with the decided sentence."""
    assert shape_a(await visitor.send(body), 400)["errorMessage"] == "Request body must be a JSON object"


@pytest.mark.parametrize("key", [None, "", 7, ["c_web_x"], "c_web_unknown", "c_web_\ud800"])
async def test_keys_that_are_none(visitor: Visitor, database: Database, key: Any) -> None:
    """A missing or unknown key is refused before anything else of the body is looked at."""
    body = visitor.envelope("nonsense") | {"api_key": key}
    inner = shape_a(await visitor.send(json.dumps(body).encode()), 401)
    assert inner["errorMessage"] == ("Invalid Api Key" if key else "'api_key' missing")
    await assert_nothing_stored(database, visitor)


async def test_a_key_of_the_wrong_kind(visitor: Visitor, database: Database) -> None:
    """A REST key is not valid here, although it is the organization's."""
    inner = shape_a(await visitor.post(conversion(), api_key=visitor.organization.rest_key), 401)
    assert inner["errorMessage"] == "Invalid Api Key"
    await assert_nothing_stored(database, visitor)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"calls": []}, "calls must be an array of 1 to 50 calls"),
        ({"calls": [{}] * 51}, "calls must be an array of 1 to 50 calls"),
        ({"calls": {}}, "calls must be an array of 1 to 50 calls"),
        ({"calls": None}, "calls must be an array of 1 to 50 calls"),
        ({"device_id": None}, "device_id must be a UUID"),
        ({"device_id": "../../etc/passwd"}, "device_id must be a UUID"),
        ({"device_id": 7}, "device_id must be a UUID"),
        ({"sdk": None}, "sdk must be a string"),
        ({"sdk": "x" * 65}, "sdk must have at most 64 characters"),
        ({"sent_at": None}, "sent_at must be a string"),
        ({"sent_at": "yesterday"}, "sent_at must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z"),
    ],
)
async def test_bad_envelopes(
    visitor: Visitor, database: Database, changes: dict[str, Any], sentence: str
) -> None:
    """A wrong envelope refuses the whole request."""
    inner = shape_a(await visitor.post(conversion(), **changes), 400)
    assert inner["errorMessage"].startswith(sentence)
    await assert_nothing_stored(database, visitor)


async def test_fifty_calls_are_a_batch(visitor: Visitor) -> None:
    """The largest batch is accepted."""
    results = await visitor.results(*(call("event", name=f"e{n}") for n in range(50)))
    assert {result["status"] for result in results} == {"accepted"}


async def test_a_large_body_is_refused(visitor: Visitor, database: Database) -> None:
    """A megabyte is refused, whether its length is announced or it arrives in chunks."""
    body = json.dumps(visitor.envelope(call("event", name="e", metadata={"x": "y" * 1_000_000}))).encode()

    async def chunks() -> Any:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    for content in (body, chunks()):
        headers = {"Origin": visitor.organization.origin, "Content-Type": "text/plain"}
        response = await visitor.client.post(BATCH, content=content, headers=headers)
        assert shape_a(response, 413)["errorMessage"] == "Request body must have at most 65536 bytes"
    await assert_nothing_stored(database, visitor)


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "gzip, gzip"])
async def test_a_compressed_body_is_refused(visitor: Visitor, database: Database, encoding: str) -> None:
    """No body is decompressed, so none can be a bomb."""
    body = gzip.compress(json.dumps(visitor.envelope(conversion())).encode())
    inner = shape_a(await visitor.send(body, Content_Encoding=encoding), 415)
    assert inner["errorMessage"] == "Content-Encoding is not accepted"
    await assert_nothing_stored(database, visitor)


@pytest.mark.parametrize("media_type", ["application/xml", "multipart/form-data; boundary=x", "text/html"])
async def test_another_media_type_is_refused(visitor: Visitor, media_type: str) -> None:
    """Only what the SDK sends, and JSON."""
    response = await visitor.post(conversion(), headers={"Content-Type": media_type})
    assert shape_a(response, 415)["fieldName"] == "UNSUPPORTED_MEDIA_TYPE"


async def test_other_methods_and_paths(visitor: Visitor) -> None:
    """A GET is told which method there is, and an unknown path is an error in JSON."""
    shape_a(await visitor.client.get(BATCH), 405)
    shape_a(await visitor.client.post(BATCH + "/"), 404)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([], "call must be a JSON object"),
        (None, "call must be a JSON object"),
        ({}, "kind must be one of attribution, identify, lead, conversion, event"),
        (call("pageview"), "kind must be one of attribution, identify, lead, conversion, event"),
        (call("event", name="e") | {"kind": ["event"]}, "kind must be one of"),
        (call("event"), "name field is required"),
        (call("event", name=""), "name field is required"),
        (call("event", name="\x00\ufeff\t"), "name field is required"),
        (call("event", name="e") | {"call_id": None}, "call_id field is required"),
        (call("event", name="e") | {"call_id": "1"}, "call_id must be a UUID"),
        (call("event", name="e") | {"occurred_at": None}, "occurred_at field is required"),
        (call("event", name="e") | {"occurred_at": 1_700_000_000}, "occurred_at must be a string"),
        (call("event", name="e") | {"occurred_at": "soon"}, "occurred_at must be an ISO 8601 time"),
        (call("event", name="e") | {"occurred_at": "0001-01-01T00:00:00+23:59"}, "occurred_at must be"),
        (call("event", name="e") | {"page": 7}, "page must be a string"),
        (call("event", name="e", metadata="text"), "metadata must be a JSON object"),
        (call("event", name="e", metadata={"x": "y" * 4096}), "metadata must have at most 4096 bytes"),
        (call("event", name="e", metadata={"x": "ü" * 2045}), "metadata must have at most 4096 bytes"),
        (call("event", name="e", metadata={"a": 10**400}), "metadata must not hold numbers too large"),
        (
            call("event", name="e", metadata={"a": [[[[[[[[[[]]]]]]]]]]}),
            "metadata must have at most 8 levels",
        ),
        (call("identify"), "customer_id field is required"),
        (call("identify", customer_id="c", email_sha256="a@b.c"), "email_sha256 must be a SHA-256"),
        (call("lead", client_timestamp="soon"), "client_timestamp must begin with an ISO 8601 date"),
        (conversion(revenue=None), "revenue field is required"),
        (conversion(currency=None), "currency field is required"),
        (conversion(revenue="19.99"), "revenue must be a number, in major units"),
        (conversion(revenue=True), "revenue must be a number, in major units"),
        (conversion(revenue=-0.01), "revenue must be a finite number of 0 or more"),
        (conversion(revenue=10**13), "revenue must be at most 1000000000000"),
        (conversion(revenue=1e300), "revenue must be at most 1000000000000"),
        (conversion(currency="XXX"), "currency must be an ISO 4217 currency code, such as EUR"),
        (conversion(currency="u\u017fd"), "currency must be an ISO 4217 currency code, such as EUR"),
        (conversion(currency=978), "currency must be an ISO 4217 currency code, such as EUR"),
        (call("attribution", signals=[]), "signals must be a JSON object"),
        (call("attribution", signals={"gclid": 7}), "signals.gclid must be a string"),
    ],
)
async def test_bad_calls(visitor: Visitor, database: Database, bad: Any, sentence: str) -> None:
    """A call that breaks a rule is rejected with the field and the rule, and leaves nothing behind."""
    result = await visitor.result(bad)
    assert result["status"] == "rejected"
    assert result["error"]["errorMessage"].startswith(sentence)
    await assert_nothing_stored(database, visitor)


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


async def test_what_was_rejected_is_kept_for_the_owner(
    visitor: Visitor, database: Database, make_organization: OrganizationFactory, clock: MovableClock
) -> None:
    """Field, reason, number and last time of what can't be understood, and nothing of what was sent."""
    await visitor.results(
        conversion(revenue=-7), conversion(revenue="1234"), conversion(revenue=-8), "secret"
    )
    clock.offset = timedelta(hours=1)
    await visitor.results(conversion(revenue=-7), call("lead") | {"kind": "secret"})
    await visitor.post(conversion(), device_id="secret")
    entries = await list_rejections(database, visitor.organization.id)
    assert {
        (entry.rejection.kind, entry.rejection.field, entry.rejection.rule): entry.calls for entry in entries
    } == {
        ("conversion", "revenue", "must be a finite number of 0 or more"): 3,
        ("conversion", "revenue", "must be a number, in major units"): 1,
        ("unknown", "call", "must be a JSON object"): 1,
        ("unknown", "kind", "must be one of attribution, identify, lead, conversion, event"): 1,
        ("batch", "device_id", "must be a UUID"): 1,
    }
    ages = [datetime.now(UTC) - entry.last for entry in entries]
    assert sum(age < timedelta() for age in ages) == 3
    assert await list_rejections(database, (await make_organization()).id) == []
    own = {"_id": {"$regex": f"^{visitor.organization.id}/"}}
    kept = [str(document).lower() async for document in database["rejections"].find(own)]
    assert len(kept) == 5
    assert not [text for text in kept if "secret" in text or "'1234'" in text]


@pytest.mark.parametrize("value", HOSTILE_TEXTS, ids=ascii)
async def test_hostile_values_in_every_text(visitor: Visitor, database: Database, value: Any) -> None:
    """Wrong types and lengths are rejected wherever a text belongs."""
    calls = [
        conversion(transaction_id=value),
        conversion(product_id=value),
        conversion(customer_id=value),
        call("lead", event_id=value),
        call("lead", name=value),
        call("lead", customer_id=value),
        call("identify", customer_id=value),
        call("identify", customer_id="c", name=value),
        call("event", name=value),
        call("event", name="e", product_id=value),
    ]
    results = await visitor.results(*calls)
    assert {result["status"] for result in results} == {"rejected"}
    await assert_nothing_stored(database, visitor)


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


@pytest.mark.parametrize(
    "filling", ["x" * 4088, "ü" * 2044, '"' * 2044, "\x00" * 681 + "xx", "\ud83d" * 681 + "xx"]
)
async def test_metadata_is_measured_as_javascript_writes_it(visitor: Visitor, filling: str) -> None:
    """4,096 bytes of UTF-8 are accepted, and one more is not, whatever of them has to be escaped."""
    fits, too_long = ({"a": filling + more} for more in ("", "x"))
    results = await visitor.results(
        *(call("event", name="e", metadata=metadata) for metadata in (fits, too_long))
    )
    assert [result["status"] for result in results] == ["accepted", "rejected"]


@pytest.mark.parametrize("value", ["' OR 1=1 --", "<script>", "$ne", "../..", "ﷺ", "👩‍👩‍👧", "a.b", "=1+1"])
async def test_strange_texts_are_kept_as_they_are(visitor: Visitor, database: Database, value: str) -> None:
    """What is a text is stored unchanged, whatever it would mean elsewhere."""
    await visitor.results(
        call("event", name=value, product_id=value, metadata={value.replace("$", "_"): value})
    )
    (event,) = [document async for document in database["events"].find({"org_id": visitor.organization.id})]
    assert (event["name"], event["product_id"], list(event["metadata"].values())) == (value, value, [value])


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


@pytest.mark.parametrize("levels", [9, 500, 950, 5_000, 30_000])
async def test_a_deep_call_does_not_sink_its_batch(visitor: Visitor, levels: int) -> None:
    """Metadata of any depth is answered per call, with its rule; the sale behind it is stored."""
    hole = json.dumps(visitor.envelope(call("event", name="e", metadata={"a": "deep"}), conversion()))
    body = hole.replace('"deep"', "[" * levels + '"]}"' + "]" * levels)
    response = await visitor.send(body.encode())
    assert response.status_code == 200, response.text
    rejected, sale = response.json()["results"]
    assert rejected["error"] == {
        "errorMessage": "metadata must have at most 8 levels",
        "fieldName": "metadata",
    }
    assert sale["status"] == "accepted"
