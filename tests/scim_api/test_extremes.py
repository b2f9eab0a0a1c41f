"""Whatever a call of SCIM brings: it is answered by the protocol, and never by a fault of the service."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import httpx
import pytest

from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization
from tests.scim_api.identity_provider import ERROR, GROUP, PATCH_OP, USER, connect

SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"
NUMBERS = (
    "", "0", "-1", "1e9", "1.5", "NaN", "inf", "-Infinity", "٣", " 7 ", "0x10", "null", "[]",
    *(str(sign * 2**bits + more) for sign in (1, -1) for bits in (31, 32, 63, 64) for more in (-1, 0, 1)),
    str(2**1024), "9" * 5_000,
)  # fmt: skip
TEXTS = (
    "",
    " ",
    "x",
    "\x00",
    "a\x00b",
    "\u202e",
    "\ud800",
    "\U0010ffff",
    "$where",
    "a.b",
    "../..",
    "%",
    '"',
    "[",
    "(",
    "x" * 9_000,
)
FILTERS = (
    "userName eq", 'userName eq "', "()", "(" * 2_000, "not (" * 400 + 'userName eq "a"' + ")" * 400,
    " and ".join(['userName eq "a"'] * 400), 'userName eq "\\ud800"', 'userName sw "\\ud800"',
    'userName eq "\\u0000"', f"userName eq {'9' * 5_000}", "userName eq NaN", "id eq 1e400",
    "userName eq null", 'active eq "true"', 'meta.created gt "x"', "userName pr", 'emails[type eq "work"',
    'emails[emails[type eq "a"]]', 'emails[type eq "\\ud800" and value eq "\\udfff"]', 'emails eq "\\ud800"',
    'urn:x:y:userName eq "a"', 'userName.x.y.z eq "a"', 'name eq "a"', 'members[value eq "\\ud800"]',
    'id eq {"$gt": ""}', 'x eq "a" or userName eq "b"',
)  # fmt: skip
PATHS = (
    *TEXTS, "emails[", 'emails[type eq "work"].value', "emails[not (value pr)]", "name.familyName.x", "id",
    "meta.created", "schemas", "members", 'members[value eq "\\ud800"]', "a.b.c", "emails[" * 200, USER,
    f"{USER}:", f"{USER}:userName", "urn:::", "userName[value eq 1]",
)  # fmt: skip
# As JSON, since not all of it can be written from Python's values.
VALUES = (
    "null", "true", "-1", "1.5", "1e400", "NaN", "Infinity", str(2**64), "9" * 5_000, '""', '"\\u0000"',
    '"\\ud800"', '"\\u202e"', json.dumps("x" * 9_000), "[]", "[[]]", "[null]", "{}", '{"": ""}',
    '{"$gt": ""}', '{"a.b": 1}', '[{"value": null}]', '[{"value": {"$gt": ""}}]', '[{"value": "\\ud800"}]',
    "[" * 500 + "]" * 500, "[" * 100_000 + "]" * 100_000, '{"value": ' * 300 + "1" + "}" * 300,
)  # fmt: skip
RAW = (
    b"", b"x", b"\xff", b"[]", b"null", b"{", b'"x"', b"7", b"[" * 100_000 + b"]" * 100_000, b'{"a":1,"a":2}',
    "\ufeff{}".encode(), "{}".encode("utf-16"),
)  # fmt: skip
USER_FIELDS = (
    "schemas",
    "userName",
    "externalId",
    "displayName",
    "active",
    "emails",
    "name",
    "id",
    "meta",
    "x",
)
Call = tuple[str, str, str | bytes]


def query(**values: str) -> str:
    """A query, with half a character as the bytes that would stand for it."""
    return urlencode(values, errors="surrogatepass")


def body(fields: dict[str, str]) -> str:
    """An object with these fields, whose values are JSON already."""
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in fields.items()) + "}"


def searches(user: str, group: str) -> Iterator[Call]:
    """Parameters of the addresses, each once and repeated."""
    for kind in ("/Users", "/"):
        for name in ("startIndex", "count"):
            yield from (("GET", f"{kind}?{query(**{name: value})}", "") for value in NUMBERS)
        yield "GET", f"{kind}?startIndex=1&startIndex={2**64}&count=x&filter=a&filter=b", ""
    for name in ("filter", "attributes", "excludedAttributes", "sortBy", "cursor"):
        values = (*TEXTS, *FILTERS) if name == "filter" else PATHS
        yield from (("GET", f"/Users?{query(**{name: value})}", "") for value in values)
    yield from (("GET", f"/Groups?{query(filter=value)}", "") for value in FILTERS if "members" in value)
    yield "GET", "/Users?filter=%ff%fe&attributes=%c3", ""
    yield from (("GET", f"/Users/{user}?{query(attributes=value)}", "") for value in PATHS)
    yield from (("GET", f"/Groups/{group}?{query(excludedAttributes=value)}", "") for value in PATHS)


def addresses(user: str, group: str) -> Iterator[Call]:
    """Ids and paths."""
    for text in (*TEXTS, user.upper(), f"{user}/", f"{user}/x", f"{group}\n"):
        for kind in ("Users", "Schemas"):
            for method in ("GET", "PUT", "PATCH", "DELETE"):
                yield method, f"/{kind}/{quote(text, safe='', errors='surrogatepass')}", "{}"


def searches_in_bodies(user: str, group: str) -> Iterator[Call]:
    """Searches that are sent, and bodies that are none."""
    for name in ("startIndex", "count", "filter", "attributes", "sortBy", "schemas"):
        for value in (*VALUES, *(map(json.dumps, FILTERS) if name == "filter" else ())):
            yield "POST", "/Users/.search", body({"schemas": json.dumps([SEARCH])} | {name: value})
    for raw in RAW:
        for path in ("/Users", "/.search", "/Bulk", "/Me"):
            yield "POST", path, raw
        yield "PUT", f"/Users/{user}", raw
        yield "PATCH", f"/Groups/{group}", raw


def resources(user: str, group: str) -> Iterator[Call]:
    """Users and groups with such values."""
    for value in VALUES:
        for name in USER_FIELDS:
            told = {"schemas": json.dumps([USER]), "userName": json.dumps(f"u{uuid.uuid4()}")} | {name: value}
            yield "PUT", f"/Users/{user}", body(told)
        for name in ("displayName", "members"):
            told = {"schemas": json.dumps([GROUP]), "displayName": '"Editors"'} | {name: value}
            yield "PUT", f"/Groups/{group}", body(told)


def changes(user: str, group: str) -> Iterator[Call]:
    """Changes of such paths, to such values."""

    def patch(address: str, **operation: str) -> Call:
        return (
            "PATCH",
            address,
            body({"schemas": json.dumps([PATCH_OP]), "Operations": f"[{body(operation)}]"}),
        )

    for value in VALUES:
        yield "PATCH", f"/Users/{user}", body({"schemas": json.dumps([PATCH_OP]), "Operations": value})
        yield patch(f"/Users/{user}", op=value, path='"active"', value="true")
        yield patch(f"/Users/{user}", op='"add"', path=value, value="true")
        for path in ("emails", 'emails[type eq "work"].value', "active", "name.familyName"):
            yield patch(f"/Users/{user}", op='"replace"', path=json.dumps(path), value=value)
        yield patch(f"/Users/{user}", op='"add"', value=value)
        for op in ("add", "remove"):
            yield patch(f"/Groups/{group}", op=json.dumps(op), path='"members"', value=value)
    for path in PATHS:
        yield patch(f"/Users/{user}", op='"replace"', path=json.dumps(path), value='"x"')
        yield patch(f"/Groups/{group}", op='"remove"', path=json.dumps(path))


@pytest.mark.parametrize("walk", [searches, addresses, searches_in_bodies, resources, changes])
async def test_no_extreme_is_a_fault(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, walk: object
) -> None:
    """Each answer is a result, or an error of SCIM that says what is wrong."""
    assert callable(walk)
    provider = await connect(client, database, organization.id)
    user = await provider.user("ada@shop.example")
    group = await provider.group("Editors", user)
    for number, (method, path, content) in enumerate(walk(user["id"], group["id"])):
        if number % 300 == 0:  # what a key may call has a limit
            provider = await connect(client, database, organization.id)
        headers = {"Authorization": f"Bearer {provider.token}", "If-Match": "*"}
        address = f"/scim/v2{path}"
        answer = await client.request(method, address, content=content, headers=headers)
        shown = (method, path[:200], content[:200], answer.text[:200])
        assert answer.status_code < 500 or answer.status_code == 501, shown
        if answer.status_code >= 400:
            error = answer.json()
            assert error.get("schemas") == [ERROR], shown
            assert error["status"] == str(answer.status_code), shown
            assert error["detail"], shown
