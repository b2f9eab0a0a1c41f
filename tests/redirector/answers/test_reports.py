"""POST /report on a link domain: what visitors report of links."""

from __future__ import annotations

import secrets
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.links.reports import ReportReason
from backend.rate_limits import service_limits
from backend.redirector.answers.report_page import _TEXTS
from backend.storage.driver.mongo import Database
from backend.storage.links.reports import KEPT, MOST_KEPT, dismiss_reports, list_reported
from backend.visitor_pages.languages import _TEXTS as MESSAGES
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.redirector.conftest import DESKTOP, LinkFactory

REPORT = {"reason": "fraud", "text": "It imitates\r\nmy bank"}


@pytest.fixture
def visitor(service: Service, organization: TestOrganization) -> httpx.AsyncClient:
    """A visitor with an address of its own, whose reports are not counted with those of other tests."""
    address = f"2001:db8:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1"
    transport = httpx.ASGITransport(app=service, client=(address, 40000))
    return httpx.AsyncClient(
        transport=transport, base_url=f"http://{organization.domain}", headers={"user-agent": DESKTOP}
    )


async def send(visitor: httpx.AsyncClient, link: str, **fields: Any) -> httpx.Response:
    """Send the form."""
    return await visitor.post("/report", data={"link": link} | REPORT | fields)


@pytest.mark.parametrize(
    "form",
    [
        *("https://{host}/{path}?x=1", "{host}/{path}", "{path}", " /{path} ", "https://{host}/{path}+?x=1"),
        *("https://{host}/{capitals}", "{capitals}+", "{host}/{path}).", "https://{host}/{path}&a=b"),
    ],
)
async def test_a_report(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    organization: TestOrganization,
    form: str,
) -> None:
    """It is kept for the link that its short URL or path names, for its organization and for the operator."""
    link = await make_link()
    answer = await send(visitor, form.format(host=link.domain, path=link.path, capitals=link.path.upper()))
    assert (answer.status_code, "Thank you" in answer.text) == (200, True)
    (reported,) = await list_reported(database, organization.id, 10)
    assert (reported.link.id, reported.count) == (link.id, 1)
    (report,) = reported.latest
    assert (report.reason, report.text) == (ReportReason.FRAUD, "It imitates\nmy bank")
    assert link.id in {entry.link.id for entry in await list_reported(database, None, 100)}
    other = await create_test_organization(database)
    assert await list_reported(database, other.id, 10) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"link": "nothing-here"}, "There is no such link here"),
        ({"link": "https://elsewhere.example/{path}"}, "There is no such link here"),
        ({"reason": ""}, "Please choose what is wrong"),
        ({"reason": "dislike"}, "Please choose what is wrong"),
        ({"text": "x" * 1001}, "This text is too long"),
        ({"text": "a\x00<b>"}, "This text is too long"),
    ],
)
async def test_what_is_no_report(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    organization: TestOrganization,
    fields: dict[str, str],
    said: str,
) -> None:
    """The form comes again with what was written and what is wrong; nothing is kept."""
    link = await make_link()
    given = {"link": link.path} | {name: text.format(path=link.path) for name, text in fields.items()}
    answer = await send(visitor, **given)
    assert (answer.status_code, said in answer.text) == (422, True)
    assert f'value="{given["link"]}"' in answer.text
    assert "<b>" not in answer.text
    assert await list_reported(database, organization.id, 10) == []


async def test_how_visitors_come_to_the_form(
    visitor: httpx.AsyncClient, make_link: LinkFactory, organization: TestOrganization
) -> None:
    """By its address, and by a button on the error page, which fills in where they come from; no scripts."""
    link = await make_link(is_enabled=False)
    page = await visitor.get(f"/{link.path}")
    assert (
        '<form class="report" method="post" action="/report"><button>Report this link</button>' in page.text
    )
    came_from = f"http://{organization.domain}/{link.path}"
    headers = {"referer": came_from, "content-type": "application/x-www-form-urlencoded"}
    by_button = await visitor.post("/report", headers=headers)
    assert f'value="{came_from}"' in by_button.text
    by_address = await visitor.get(
        "/report", headers={"accept-language": "de", "referer": "https://x.example/a"}
    )
    assert (by_address.status_code, "Einen Link melden" in by_address.text) == (200, True)
    assert 'name="link" value=""' in by_address.text
    assert "<script" not in by_address.text
    assert "form-action" not in by_address.headers["content-security-policy"]
    for typed in ("/report/", "/REPORT", "/report)."):
        assert 'name="link"' in (await visitor.get(typed)).text


async def test_a_link_at_the_form_s_path(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """It goes before the form; what is posted there is a report all the same."""
    await make_link(path="report")
    assert (await visitor.get("/report")).status_code == 302
    assert (await send(visitor, "report")).status_code == 200


async def test_who_may_not_report(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages of other sites, by their visitors; what is no form; and an address that has sent too many."""
    link = await make_link()
    elsewhere = await visitor.post(
        "/report", data={"link": link.path} | REPORT, headers={"sec-fetch-site": "cross-site"}
    )
    assert elsewhere.status_code == 403
    assert (await visitor.post("/report", json=REPORT)).status_code == 400
    assert await list_reported(database, organization.id, 10) == []
    statuses = [
        (await send(visitor, link.path)).status_code for _ in range(service_limits._REPORTS_AN_HOUR + 1)
    ]
    assert statuses == [200] * service_limits._REPORTS_AN_HOUR + [429]
    (reported,) = await list_reported(database, organization.id, 10)
    assert reported.count == service_limits._REPORTS_AN_HOUR


async def test_reports_stay_small_and_go(
    make_link: LinkFactory, database: Database, visitor: httpx.AsyncClient
) -> None:
    """Of a link the latest are kept, for half a year after the last; the operator can dismiss them."""
    link = await make_link()
    await send(visitor, link.path)
    stored = await database["link_reports"].find_one({"_id": link.id})
    assert stored
    assert stored["expires_at"] == stored["last_at"] + KEPT
    many = {"latest": stored["latest"] * (MOST_KEPT + 5)}
    await database["link_reports"].update_one({"_id": link.id}, {"$set": many})
    await send(visitor, link.path, reason="spam")
    (reported,) = await list_reported(database, link.org_id, 10)
    assert (len(reported.latest), reported.latest[0].reason) == (MOST_KEPT, ReportReason.SPAM)
    assert await dismiss_reports(database, link.id)
    assert not await dismiss_reports(database, link.id)
    assert await list_reported(database, link.org_id, 10) == []


def test_every_language_has_every_text() -> None:
    """The form is in the languages of the other pages, whole."""
    assert _TEXTS.keys() == MESSAGES.keys()
    assert {frozenset(texts) for texts in _TEXTS.values()} == {frozenset(_TEXTS["en"])}
    assert {*map(str, ReportReason)} <= _TEXTS["en"].keys()
