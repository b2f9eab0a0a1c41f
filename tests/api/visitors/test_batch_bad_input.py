"""Bad batches: the decided error that names the field and the rule, and nothing stored."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from backend.storage.visitors.rejections import list_rejections
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.sdk_batches import BATCH, Visitor, call, conversion

NO_NUMBER = "must be a number, in major units, or plain text such as 59.90"
HOSTILE_TEXTS = [
    "x" * 257,
    "🛒" * 257,
    2**53,
    1.5,
    True,
    ["a"],
    {"$gt": ""},
]


async def assert_nothing_stored(database: Database, visitor: Visitor) -> None:
    """No collection has anything of the visitor's organization."""
    for name in ("leads", "conversions", "events", "devices", "contacts", "counted_once"):
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


BAD_CALLS: list[tuple[Any, ...]] = [
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
    (conversion(revenue="19,99"), "revenue must be a number, in major units"),
    (conversion(revenue=True), "revenue must be a number, in major units"),
    (conversion(revenue=-0.01), "revenue must be a finite number of 0 or more"),
    (conversion(revenue=10**13), "revenue must be at most 1000000000000"),
    (conversion(revenue=1e300), "revenue must be at most 1000000000000"),
    (conversion(currency="XXX"), "currency must be an ISO 4217 currency code, such as EUR"),
    (conversion(currency="u\u017fd"), "currency must be an ISO 4217 currency code, such as EUR"),
    (conversion(currency=978), "currency must be an ISO 4217 currency code, such as EUR"),
    (call("attribution", signals=[]), "signals must be a JSON object"),
    (call("attribution", signals={"gclid": 7}), "signals.gclid must be a string"),
]


async def test_bad_calls(visitor: Visitor, database: Database) -> None:
    """A call that breaks a rule is rejected with the field and the rule, and leaves nothing behind."""
    for bad, sentence in BAD_CALLS:
        result = await visitor.result(bad)
        assert result["status"] == "rejected"
        assert result["error"]["errorMessage"].startswith(sentence)
        await assert_nothing_stored(database, visitor)


async def test_what_was_rejected_is_kept_for_the_owner(
    visitor: Visitor, database: Database, make_organization: OrganizationFactory, clock: MovableClock
) -> None:
    """Field, reason, number and last time of what can't be understood, and nothing of what was sent."""
    await visitor.results(
        conversion(revenue=-7), conversion(revenue="12,34"), conversion(revenue=-8), "secret"
    )
    clock.offset = timedelta(hours=1)
    await visitor.results(conversion(revenue=-7), call("lead") | {"kind": "secret"})
    await visitor.post(conversion(), device_id="secret")
    entries = await list_rejections(database, visitor.organization.id)
    assert {
        (entry.rejection.kind, entry.rejection.field, entry.rejection.rule): entry.calls for entry in entries
    } == {
        ("conversion", "revenue", "must be a finite number of 0 or more"): 3,
        ("conversion", "revenue", NO_NUMBER): 1,
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
    assert not [text for text in kept if "secret" in text or "'12,34'" in text]


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
    "filling", ["x" * 4088, "ü" * 2044, '"' * 2044, "\x00" * 681 + "xx", "\ud83d" * 681 + "xx"]
)
async def test_metadata_is_measured_as_javascript_writes_it(visitor: Visitor, filling: str) -> None:
    """4,096 bytes of UTF-8 are accepted, and one more is not, whatever of them has to be escaped."""
    fits, too_long = ({"a": filling + more} for more in ("", "x"))
    results = await visitor.results(
        *(call("event", name="e", metadata=metadata) for metadata in (fits, too_long))
    )
    assert [result["status"] for result in results] == ["accepted", "rejected"]


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
