"""Every row of the error table, provoked: by a walk over the table, so that no row is left out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.archives.archive import MOST_ARCHIVES
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.redirector.links.file import path_in
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, link_body
from tests.api.provocations import (
    Caller,
    Provocation,
    calling,
    disk_nearly_full,
    domain_in_use,
    exporting,
    external_id_taken,
    key_reused,
    link_has_clicks,
    link_is_held,
    makes_no_links,
    page_unreadable,
    path_taken,
    provisioned_member,
    scoped,
    tag_taken,
    template_taken,
    without_key,
    wrong_media_type,
)
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import free_port

ROWS = {name: row for name, row in vars(error_table).items() if isinstance(row, ErrorRow)}
UPDATE = f"/update-link/{uuid.UUID(int=7)}"
RECIPIENT = {"report_id": str(uuid.UUID(int=7)), "address": "ada@shop.example", "frequency": "weekly"}
FOREIGN_CURSOR = "999.0.0000000000000000"
REFUND = {"refund_id": "refund-1", "transaction_id": "order-1", "amount": 1, "currency": "EUR"}

BY_A_CALL: dict[str, Provocation] = {
    "LINK_ID_INVALID": calling("PATCH", "/update-link/1", {}),
    "FIELD_MISSING": calling("PATCH", f"/links/change-status/{uuid.UUID(int=7)}", {}),
    "SHORT_URL_EMPTY": calling("POST", "/links/info", {}),
    "LINK_DETAILS_EMPTY": calling("POST", "/install-analytics", {}),
    "LINK_DETAILS_UNKNOWN": calling("POST", "/analytics", {"linkId": "x"}),
    "SHORT_URL_UNKNOWN": calling("POST", "/links/info", {"shortUrl": "https://x.example/y"}),
    "PAGE_SIZE_INVALID": calling("GET", "/links/page?size=101"),
    "KEY_MISSING": without_key,
    "KEY_INVALID": calling("GET", "/links/page", headers={"API-KEY": "c_api_x"}),
    "KEY_INVALID_FOR_CREATE": calling("POST", "/create-link", {}, {"API-KEY": "c_api_x"}),
    "SUBSCRIPTION_NEEDED": calling("POST", "/install-analytics", {"linkId": "x"}),
    "LINK_NOT_FOUND": calling("PATCH", UPDATE, {}),
    "IDENTITY_NOT_FOUND": calling("DELETE", f"/identities?device_id={uuid.UUID(int=7)}&customer_id=ada"),
    "SALE_NOT_FOUND": calling("GET", "/conversions/order-1/explain"),
    "REFUNDED_SALE_NOT_FOUND": calling("POST", "/conversions/refund", REFUND),
    "INSTALLS_NEED_SUBSCRIPTION": calling("POST", "/analytics/query", {"measures": ["installs"]}),
    "FIELD_INVALID": calling("PATCH", UPDATE, {"link_name": 1}),
    "PATH_TAKEN": path_taken,
    "DOMAIN_NOT_CONFIGURED": lambda caller: caller.create(domain="x.example"),
    "BODY_NOT_AN_OBJECT": calling("POST", "/analytics", []),
    "IDEMPOTENCY_KEY_REUSED": key_reused,
    "PAGE_INVALID": calling("GET", "/links/page?page=0"),
    "CREATED_BY_INVALID": calling("GET", "/links/page?createdBy=x"),
    "EXTERNAL_ID_TAKEN": external_id_taken,
    "QUERY_INVALID": calling("GET", "/links?colour=red"),
    "KEY_MAKES_NO_LINKS": makes_no_links,
    "SCOPE_MISSING": scoped("GET", "/annotations", [Permission.LINKS_READ]),
    "KEY_LIMITED": scoped("GET", "/costs", [Permission.ANALYTICS_READ], limited_to=LinkReach(links=())),
    "SCOPES_NOT_GRANTED": scoped("POST", "/keys", [Permission.KEYS_WRITE], {"kind": "rest"}),
    "KEY_ENDED": scoped("POST", "/keys/{key}/rotate", [Permission.KEYS_WRITE], {}),
    "KEY_NOT_FOUND": scoped("DELETE", f"/keys/{uuid.UUID(int=7)}", [Permission.KEYS_WRITE]),
    "ROLE_NOT_GRANTED": scoped("DELETE", "/members/{owner}", [Permission.MEMBERS_WRITE]),
    "LAST_OWNER": scoped("DELETE", "/members/{owner}", list(Permission)),
    "PROVISIONED_MEMBER": provisioned_member,
    "MEMBER_NOT_FOUND": scoped("DELETE", f"/members/{uuid.UUID(int=7)}", list(Permission)),
    "INVITATION_NOT_FOUND": scoped("DELETE", f"/member-invitations/{uuid.UUID(int=7)}", list(Permission)),
    "ARCHIVE_NOT_FOUND": exporting("GET", "/archives/{archive}"),
    "ARCHIVE_UNDER_WAY": exporting("POST", "/archives", {"state": "in_progress", "is_open": True}),
    "TOO_MANY_ARCHIVES": exporting("POST", "/archives", *[{}] * MOST_ARCHIVES),
    "ARCHIVE_NOT_READY": exporting("GET", "/archives/{archive}/file", {"state": "failed"}),
    "RANGE_NOT_SATISFIABLE": exporting("GET", "/archives/{archive}/file", {}, headers={"Range": "bytes=1-"}),
    "DISK_NEARLY_FULL": disk_nearly_full,
    "DOMAIN_IN_USE": domain_in_use,
    "LINK_HAS_CLICKS": link_has_clicks,
    "LINK_IS_HELD": link_is_held,
    "PAGE_UNREADABLE": page_unreadable,
    "TAG_TAKEN": tag_taken,
    "TEMPLATE_TAKEN": template_taken,
    "TEMPLATE_NOT_FOUND": calling("DELETE", "/utm-templates/mail"),
    "LOGO_NOT_SET": calling("GET", "/qr-logo"),
    "TAG_NOT_FOUND": calling("DELETE", "/tags/spring"),
    "FEED_PUT_BACK": calling("GET", f"/events?after={FOREIGN_CURSOR}"),
    "WEBHOOK_NOT_FOUND": calling("GET", f"/webhooks/{uuid.UUID(int=7)}"),
    "REPORT_NOT_FOUND": calling("GET", f"/reports/{uuid.UUID(int=7)}"),
    "ALERT_RULE_NOT_FOUND": calling("GET", f"/alert-rules/{uuid.UUID(int=7)}"),
    "ALERT_NOT_FOUND": calling("PATCH", f"/alerts/{uuid.UUID(int=7)}", {"is_seen": True}),
    "COST_NOT_FOUND": calling("DELETE", "/costs/0"),
    "DOMAIN_NOT_FOUND": calling("PATCH", "/domains/go.nowhere.example", {}),
    "RECIPIENT_NOT_FOUND": calling("DELETE", f"/report-recipients/{uuid.UUID(int=7)}"),
    "NO_MAIL_SERVER": calling("POST", "/report-recipients", RECIPIENT),
    "PATH_UNKNOWN": calling("GET", "/nothing"),
    "METHOD_NOT_ALLOWED": calling("DELETE", "/links/page"),
    "BODY_TOO_LARGE": calling("POST", "/analytics", {"linkId": "x" * 65536}),
    "MEDIA_TYPE_WRONG": wrong_media_type,
}
DETAILS = {
    "SCOPE_MISSING": {"message": "analytics:read"},
    "PAGE_UNREADABLE": {"message": "is not in the public internet"},
    "FIELD_MISSING": {"field": "is_enabled"},
    "FIELD_INVALID": {"message": "link_name must be a string"},
    "QUERY_INVALID": {"message": "colour is not a parameter of this request", "field": "colour"},
    "BODY_TOO_LARGE": {"message": "65536"},
    "FEED_PUT_BACK": {"field": "after", "message": FOREIGN_CURSOR, "cursor": "1.0"},
}
# The calls above are the contract's, whose errors are told to the letter, but for these.
OF_NEWER_OPERATIONS = {
    "EXTERNAL_ID_TAKEN",
    "INSTALLS_NEED_SUBSCRIPTION",
    "PAGE_UNREADABLE",
    "QUERY_INVALID",
    "TAG_TAKEN",
    "TEMPLATE_TAKEN",
}
# The rows of limits are provoked in test_call_limits, test_made_links, test_events and test_qr_codes.
BY_A_LIMIT = {
    "ADDRESS_LIMIT_EXCEEDED", "INSTALL_LIMIT_EXCEEDED", "RATE_LIMIT_EXCEEDED", "TOO_MANY_READERS",
    "TOO_MUCH_WAITS",
}  # fmt: skip
BY_A_FAULT = {"BODY_TOO_SLOW", "SERVER_FAULT", "STORAGE_UNREACHABLE", "FIGURES_UNAVAILABLE"}


def test_no_row_is_left_out() -> None:
    """Each row of the table is provoked below."""
    assert set(ROWS) == set(BY_A_CALL) | BY_A_LIMIT | BY_A_FAULT


@pytest.mark.parametrize("name", BY_A_CALL)
async def test_a_row(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, name: str
) -> None:
    """The answer has the row's status, and the row's body to the letter; beside the contract's operations
    the name of the field that is at fault, if one is."""
    answer = await BY_A_CALL[name](Caller(client, organization, database))
    row, details = ROWS[name], DETAILS.get(name, {})
    told = (
        row.body_of_fields([row.field_error(**details)])
        if name in OF_NEWER_OPERATIONS
        else row.body(**details)
    )
    assert (answer.status_code, answer.json()) == (row.status, told)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    """A service of a test's own, and a client of it."""
    service = create_app(settings)
    await service.startup()
    transport = httpx.ASGITransport(app=service)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield service, client
    finally:
        await service.shutdown()


async def test_the_rate_limit(settings: Settings, organization: TestOrganization, tmp_path: Path) -> None:
    """The row of a key that is used up."""
    async with serving(replace(settings, rate_limit=1, data_dir=tmp_path)) as (_, client):
        await client.get(f"{API}/links/page", headers=organization.headers)
        answer = await client.get(f"{API}/links/page", headers=organization.headers)
    assert (answer.status_code, answer.json()) == (429, error_table.RATE_LIMIT_EXCEEDED.body())


async def test_a_slow_body(settings: Settings, organization: TestOrganization, tmp_path: Path) -> None:
    """The row of a body that does not come to its end."""
    async with serving(replace(settings, data_dir=tmp_path)) as (service, _):
        service.api.config["BODY_TIMEOUT"] = 0.1
        assert await status_of_unfinished_post(service, f"{API}/analytics", organization) == 408


async def status_of_unfinished_post(service: Service, path: str, organization: TestOrganization) -> int:
    """The status of a POST whose body stops after its first byte; httpx would wait for all of it."""
    pieces = asyncio.Queue[dict[str, object]]()
    pieces.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    status = asyncio.get_running_loop().create_future()

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            status.set_result(message["status"])

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"api-key", organization.rest_key.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "extensions": {},
    }
    answering = asyncio.create_task(service(scope, pieces.get, send))
    try:
        return int(await asyncio.wait_for(status, timeout=20))
    finally:
        pieces.put_nowait({"type": "http.disconnect"})
        await answering


async def test_a_fault_shows_no_internals(
    settings: Settings, organization: TestOrganization, tmp_path: Path
) -> None:
    """The row of a fault of ours: a stored link that can't be read, told without its reason."""
    async with serving(replace(settings, data_dir=tmp_path)) as (service, client):
        await create(client, organization)
        await service.resources.database["links"].update_one(
            {"org_id": organization.id}, {"$set": {"ios_behavior": "broken"}}
        )
        answer = await client.get(f"{API}/links/page", headers=organization.headers)
    assert (answer.status_code, answer.json()) == (500, error_table.SERVER_FAULT.body())


async def test_without_storage(settings: Settings, organization: TestOrganization, tmp_path: Path) -> None:
    """The row of a MongoDB that can't be reached: 503 with a pause, on each operation that needs it."""
    link, body = f"/links/{uuid.UUID(int=7)}", link_body(organization)
    calls = (
        ("GET", "/links/page", None),
        ("GET", "/clicks/export?from=2026-01-01", None),
        ("POST", "/create-link", body),
        ("PATCH", UPDATE, {"link_name": "x"}),
        ("GET", "/links", None),
        ("GET", "/links?sort=-clicks_7", None),
        ("GET", link, None),
        ("POST", "/links", body),
        ("PATCH", link, {"link_name": "x"}),
        ("DELETE", link, None),
        ("DELETE", f"{link}?purge=true", None),
        ("POST", "/links/bulk", {"operations": [{"op": "create", "link": body}]}),
    )
    nowhere = replace(settings, mongodb_uri=f"mongodb://127.0.0.1:{free_port()}/", data_dir=tmp_path)
    path_in(tmp_path).touch()  # a service that has run before starts without MongoDB
    async with serving(nowhere) as (_, client):
        answers = await asyncio.gather(
            *(
                client.request(method, API + path, json=sent, headers=organization.headers)
                for method, path, sent in calls
            )
        )
    for answer in answers:
        assert (answer.status_code, answer.json()) == (503, error_table.STORAGE_UNREACHABLE.body())
        assert int(answer.headers["Retry-After"]) > 0
