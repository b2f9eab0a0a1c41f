"""The page that says how to install the SDK, and whether its calls arrive."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest

from backend.domain.accounts.api_keys import KeyKind, hash_key
from backend.domain.visitors.rejections import Rejection
from backend.storage.accounts.api_keys import create_api_key, find_active_key, list_api_keys, revoke_api_key
from backend.storage.accounts.organizations import set_erases_on_withdrawal
from backend.storage.accounts.rate_limited_requests import RateLimitedRequests, add_rate_limited
from backend.storage.driver.mongo import Database
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.system.clock import utc_now
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check

DOCS = (Path(__file__).parents[3] / "docs" / "sdk.md").read_text()


def code(page: httpx.Response) -> list[str]:
    """The pieces of code on a page as a browser shows them."""
    shown = re.findall(r'<pre class="code"[^>]*><code>(.*?)</code></pre>', page.text, re.DOTALL)
    return [unescape(block) for block in shown]


def snippet(page: httpx.Response) -> str:
    """The snippet as a browser shows it."""
    return code(page)[0]


async def status(person: Person) -> dict[str, str]:
    """What the page's script is told."""
    answer = await person.get("/install/status")
    assert answer.status_code == 200
    body: dict[str, str] = answer.json()
    return body


async def test_the_snippet_is_the_one_of_the_docs(person: Person) -> None:
    """It begins with docs/sdk.md's, word for word, and loads the script from this service."""
    documented = re.search(r"<!-- snippet -->\n```html\n(.*?)\n```", DOCS, re.DOTALL)
    assert documented
    shown = snippet(await person.get("/install"))
    assert shown.startswith(documented[1])
    assert '<script async src="http://localhost:8080/waylink.js"></script>' in shown
    assert "baseUrl: 'http://localhost:8080', apiKey: 'c_web_…'" in shown


async def test_the_snippet_erases_where_the_organization_does(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """The option for withdrawals of consent stands in it once the organization has switched that on."""
    assert "eraseOnWithdrawal" not in snippet(await person.get("/install"))
    await set_erases_on_withdrawal(database, organization.id, is_on=True)
    assert "apiKey: 'c_web_…', eraseOnWithdrawal: true }" in snippet(await person.get("/install"))


async def test_the_address_of_this_version_is_told(person: Person, client: httpx.AsyncClient) -> None:
    """The pinned script tag names an address that is kept for ever, and the hash of what it gives."""
    tag = re.fullmatch(
        r'<script async src="(.+)" integrity="sha384-(.+)" crossorigin="anonymous"></script>',
        code(await person.get("/install"))[1],
    )
    assert tag
    answer = await client.get(tag[1])
    assert "immutable" in answer.headers["Cache-Control"]
    assert base64.b64encode(hashlib.sha384(answer.content).digest()).decode() == tag[2]


async def test_the_npm_package_is_told(person: Person, client: httpx.AsyncClient) -> None:
    """The command that downloads the package names an address that gives it."""
    download, install = code(await person.get("/install"))[2].splitlines()
    assert install == f"npm install ./{download.rpartition('/')[2]}"
    assert (await client.get(download.removeprefix("curl -O "))).content[:2] == b"\x1f\x8b"  # gzip


async def test_a_key_is_filled_in(person: Person, organization: TestOrganization) -> None:
    """The organization's own public key stands in the snippet."""
    page = await person.send("/install", "/install", web_key=f" {organization.web_key} ")
    assert page.status_code == 200
    assert f"apiKey: '{organization.web_key}'" in snippet(page)


async def test_a_new_key_is_made_and_filled_in(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """The button makes one Browser SDK key, which works."""
    before = await list_api_keys(database, organization.id)
    page = await person.send("/install", "/install", web_key="")
    filled_in = re.search(r"apiKey: '(c_web_[^']+)'", snippet(page))
    assert filled_in
    key = await find_active_key(database, hash_key(filled_in[1]), utc_now())
    assert key is not None
    assert (key.org_id, key.kind) == (organization.id, KeyKind.WEB)
    assert len(await list_api_keys(database, organization.id)) == len(before) + 1


async def test_keys_that_can_not_stand_in_a_site(
    person: Person,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    database: Database,
    clock: MovableClock,
) -> None:
    """A secret key, another organization's and a revoked one are refused, each with the reason."""
    revoked, key = await create_api_key(database, organization.id, KeyKind.WEB, clock())
    await revoke_api_key(database, key.id, key.org_id, clock())
    other = await make_organization()
    for text, sentence in (
        (organization.rest_key, "must be a Browser SDK key: it begins with c_web_."),
        ("c_web_');alert(1)//", "is not one of this organization's keys, or was revoked."),
        (other.web_key, "is not one of this organization's keys, or was revoked."),
        (revoked, "is not one of this organization's keys, or was revoked."),
    ):
        page = await person.send("/install", "/install", web_key=text)
        assert page.status_code == 422
        assert sentence in unescape(page.text)
        assert "apiKey: 'c_web_…'" in snippet(page)


async def test_the_first_call_is_told(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient, clock: MovableClock
) -> None:
    """Before it the check waits; from the first call on it says when that and the newest visitor came."""
    assert (await status(person))["state"] == "waiting"
    await Visitor(client, organization).result(check())
    first = await status(person)
    assert first["state"] == "arrived"
    assert first["sentence"] in (await person.get("/install")).text
    clock.offset = timedelta(days=1)
    await Visitor(client, organization).result(check())
    times = re.findall(r"\d+ \w+ \d{4} at [\d:]+ UTC", (await status(person))["sentence"])
    assert times[0] == re.findall(r"\d+ \w+ \d{4} at [\d:]+ UTC", first["sentence"])[0]
    assert times[1] != times[0]


async def test_a_refused_call_is_told(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient, clock: MovableClock
) -> None:
    """Where the first call was refused the check says why, until the origin is allowed or an hour is over."""
    refused = await Visitor(client, organization).post(check(), headers={"Origin": "https://new.example"})
    assert refused.status_code == 403
    shown_status = await status(person)
    assert shown_status["state"] == "refused"
    assert "https://new.example is not an allowed origin" in shown_status["sentence"]
    clock.offset = timedelta(hours=2)
    assert (await status(person))["state"] == "waiting"
    clock.offset = timedelta()
    await person.send("/origins", "/origins", origin="https://new.example")
    assert (await status(person))["state"] == "waiting"


async def test_calls_of_another_organization_are_not_told(
    person: Person, make_organization: OrganizationFactory, client: httpx.AsyncClient
) -> None:
    """What arrives for another organization is none of this one's."""
    other = await make_organization()
    await Visitor(client, other).result(check())
    assert (await status(person))["state"] == "waiting"


@pytest.mark.parametrize("method", ["get", "post"])
async def test_the_check_only_answers_who_is_signed_in(stranger: Person, method: str) -> None:
    """It is as closed as every page."""
    assert (await getattr(stranger.client, method)("/install/status")).status_code in {303, 405}


async def test_what_limits_refused_is_shown(
    person: Person, organization: TestOrganization, database: Database, make_organization: OrganizationFactory
) -> None:
    """A table of what was refused, by limit, of this organization only; none where nothing was."""
    assert "Too many at once" not in (await person.get("/install")).text
    last = utc_now().replace(hour=12, minute=34)
    other = await make_organization()
    await add_rate_limited(database, [(organization.id, RateLimitedRequests("calls_of_address", 1234, last))])
    await add_rate_limited(database, [(other.id, RateLimitedRequests("calls_of_key", 9876, last))])
    shown = (await person.get("/install")).text
    assert "Calls or app opens from one address" in shown
    assert "1,234" in shown
    assert "12:34 UTC" in shown
    assert "9,876" not in shown


async def test_rejected_calls_are_told(
    person: Person, organization: TestOrganization, make_organization: OrganizationFactory, database: Database
) -> None:
    """Field, reason, number and last time of what was rejected; of this organization only."""
    assert "Rejected calls" not in (await person.get("/install")).text
    last = utc_now().replace(hour=12, minute=34)
    for org_id, field in ((organization.id, "revenue"), ((await make_organization()).id, "currency")):
        rejection = Rejection("conversion", field, "must be <understood>")
        await add_rejections(database, [RejectedCalls(org_id, last, (rejection,) * 1234)])
    shown = (await person.get("/install")).text
    for text in ("<code>revenue</code>", "must be &lt;understood&gt;", "conversion", "1,234", "12:34 UTC"):
        assert text in shown
    assert "<code>currency</code>" not in shown
