"""Allowed Web Origins: who may send a batch from a browser, and what browsers are told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from backend.storage.accounts.origin_refusals import list_origin_refusals
from backend.storage.accounts.origins import add_origin
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, conversion

ALLOW_ORIGIN = "Access-Control-Allow-Origin"


def preflight_headers(origin: str) -> dict[str, str]:
    """What a browser asks before it sends a batch."""
    return {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }


async def stored_count(database: Database, organization: TestOrganization) -> int:
    """How much is stored of what an organization's browsers sent."""
    names = ("leads", "conversions", "events", "devices", "contacts")
    return sum([await database[name].count_documents({"org_id": organization.id}) for name in names])


async def test_an_allowed_origin_may_read_the_answer(visitor: Visitor) -> None:
    """The Origin is echoed, and caches are told that the answer depends on it."""
    response = await visitor.post(conversion())
    assert response.headers[ALLOW_ORIGIN] == visitor.organization.origin
    assert "Origin" in response.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in response.headers


FORGED: list[Callable[[str], str]] = [
    lambda origin: "",
    lambda origin: "null",
    lambda origin: origin + ".evil.example",
    lambda origin: origin.replace("https://", "https://evil"),
    lambda origin: origin.replace("https://", "http://"),
    lambda origin: origin + ":8443",
    lambda origin: origin + "/",
    lambda origin: origin.replace("https://", "https://www."),
    lambda origin: f"https://evil.example#{origin}",
    lambda origin: "https://" + "a." * 5000 + "example",
]


async def test_other_origins_are_refused(visitor: Visitor, database: Database) -> None:
    """Missing, null and look-alike origins: 403 that no page can read, and nothing stored."""
    for forge in FORGED:
        response = await visitor.post(conversion(), headers={"Origin": forge(visitor.organization.origin)})
        assert response.status_code == 403
        assert response.json()["error"]["fieldName"] == "ORIGIN_NOT_ALLOWED"
        assert ALLOW_ORIGIN not in response.headers
        assert await stored_count(database, visitor.organization) == 0


async def test_another_organizations_origin_is_refused(
    visitor: Visitor, make_organization: OrganizationFactory, database: Database
) -> None:
    """An origin counts for the organization of the key only."""
    other = await make_organization()
    response = await visitor.post(conversion(), headers={"Origin": other.origin})
    assert response.status_code == 403
    assert ALLOW_ORIGIN not in response.headers
    assert await stored_count(database, visitor.organization) == 0


async def test_a_wildcard_allows_subdomains(visitor: Visitor, database: Database) -> None:
    """`https://*.shop` covers every subdomain, and neither the domain itself nor a look-alike."""
    host = visitor.organization.origin.removeprefix("https://")
    await add_origin(database, f"https://*.sub-{host}", visitor.organization.id, datetime.now(UTC))
    statuses = [
        (await visitor.post(conversion(), headers={"Origin": f"https://{name}"})).status_code
        for name in (f"a.sub-{host}", f"a.b.sub-{host}", f"sub-{host}", f"evilsub-{host}", f".sub-{host}")
    ]
    assert statuses == [200, 200, 403, 403, 403]


async def test_a_preflight_of_a_known_origin_is_answered(visitor: Visitor) -> None:
    """A browser that asks first, because of a media type, may send and may remember it."""
    response = await visitor.client.options(BATCH, headers=preflight_headers(visitor.organization.origin))
    assert response.status_code == 204
    assert response.headers[ALLOW_ORIGIN] == visitor.organization.origin
    assert response.headers["Access-Control-Allow-Methods"] == "POST"
    assert response.headers["Access-Control-Allow-Headers"] == "Content-Type"
    assert "Origin" in response.headers["Vary"]
    assert "Access-Control-Allow-Private-Network" not in response.headers


async def test_a_private_network_preflight_is_answered(visitor: Visitor) -> None:
    """A public page may call a service on a private network where the browser asks for it."""
    headers = preflight_headers(visitor.organization.origin) | {
        "Access-Control-Request-Private-Network": "true"
    }
    response = await visitor.client.options(BATCH, headers=headers)
    assert response.headers["Access-Control-Allow-Private-Network"] == "true"


async def test_a_preflight_of_an_unknown_origin_is_refused(visitor: Visitor) -> None:
    """An origin that nobody allows gets no permission."""
    response = await visitor.client.options(BATCH, headers=preflight_headers("https://nobody.example"))
    assert response.status_code == 403
    assert ALLOW_ORIGIN not in response.headers


async def test_errors_can_be_read_by_known_origins(visitor: Visitor) -> None:
    """The SDK reads that its key is wrong, and stops, instead of taking it for a failure of the network."""
    response = await visitor.post(conversion(), api_key="c_web_wrong")
    assert response.status_code == 401
    assert response.headers[ALLOW_ORIGIN] == visitor.organization.origin


async def test_the_owner_sees_refusals(visitor: Visitor, database: Database) -> None:
    """The latest refused requests are kept, newest first, with their Origin as it was sent."""
    for origin in ("https://shop.example:8443", "null", ""):
        await visitor.post(conversion(), headers={"Origin": origin})
    seen = await list_origin_refusals(database, visitor.organization.id)
    assert [(entry.origin, entry.reason) for entry in seen] == [
        ("", "no Origin header"),
        ("null", "a page without an origin: in a sandboxed iframe, or a file"),
        ("https://shop.example:8443", "not an Allowed Web Origin"),
    ]
    assert seen[0].reason == "no Origin header"


async def test_refusals_take_bounded_room(visitor: Visitor, database: Database) -> None:
    """However many requests are refused, the latest hundred are kept, and no Origin at length."""
    for number in range(105):
        await visitor.post(conversion(), headers={"Origin": f"https://{number}.example/" + "x" * 1000})
    seen = await list_origin_refusals(database, visitor.organization.id)
    assert len(seen) == 100
    assert seen[0].origin.startswith("https://104.example/")
    assert max(len(entry.origin) for entry in seen) <= 256
