"""Whoever has the URL of a report sees that view and nothing else, whatever else is asked by it."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import httpx
import pytest

from backend.app import Service
from backend.dashboard.frame.blueprint import needs_of
from backend.domain.links.links import Link
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind
from backend.domain.sales.credit_rules import CreditRules
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import create_report
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import bought, clicked, make_link
from tests.dashboard.routes import routes
from tests.dashboard.shared.conftest import ReportFactory, path_of
from tests.facts.organizations import TestOrganization

# Of what the report does not show: of its organization, and of another one.
SECRET = "their-secret"
AMOUNT = "7654.25"
# What the dashboard, the REST API and the page of a report itself could take for a change of the view.
ARGUMENTS = [
    {"period": "all"},
    {"from": "2026-01-01", "to": "2027-01-01"},
    {"period": "own", "from": "2026-01-01"},
    {"compare": "none"},
    {"zone": "Asia/Tokyo", "timezone": "Asia/Tokyo"},
    {"currency": "EUR"},
    {"campaign": SECRET},
    {"filters": f'{{"campaign":["{SECRET}"]}}'},
    {"filters": "{}"},
    {"measures": "revenue", "group_by": "link"},
    {"by": "link", "sort": "-revenue", "order_by": "-revenue"},
    {"limit": "10000", "size": "200"},
    {"cursor": "x"},
    {"shows_revenue": "true", "table": "link", "chart": "revenue"},
    {"kind": "funnel", "steps": '[{"kind":"click"},{"kind":"lead"}]', "within_days": "365"},
    {"format": "ndjson"},
    {"notice": "saved"},
    {"show": "revenue", "sum": "1", "added_up": "true", "weeks": "53", "measures": "revenue"},
    {"of": "leads", "after": "9999999999999-0", "page": "2"},
    {"of": "not_counted", "columns": "customer_id,transaction_id"},
    {"q": SECRET, "state": "archived", "sort": "-revenue", "columns": "destination_url", "page": "2"},
    {"type": "identify", "after": "1-0", "organization": "x", "minutes": "600"},
]

# What is no file of any report.
NOTHING = ("report.json", "report.ndjson", "country.csv", "revenue.csv", "link", ".csv", "", "%2e%2e")


def packed(arguments: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """The same arguments in fewer requests: as many together as do not take each other's place."""
    packs: list[dict[str, str]] = []
    for new in arguments:
        pack = next((pack for pack in packs if pack.keys().isdisjoint(new)), None)
        if pack is None:
            packs.append(dict(new))
        else:
            pack |= new
    return packs


class Shared(NamedTuple):
    """A view of one campaign: its kind and query, its files, and a word that its page and files have.

    `allowed` is what it may show of what others must not.
    """

    kind: ViewKind
    query: dict[str, Any]
    files: tuple[str, ...] = ("report",)
    word: str = "clicks"
    allowed: tuple[str, ...] = ()


# A report of each kind. Each can be asked for more by the arguments of its page.
SPRING = {"campaign": ["spring"]}
VIEWS: dict[str, Shared] = {
    "table": Shared(ViewKind.TABLE, {"measures": ["clicks", "revenue"], "filters": SPRING}),
    "overview": Shared(
        ViewKind.OVERVIEW,
        {
            "measures": ["clicks", "conversions", "revenue"],
            "group_by": ["campaign", "link", "platform"],
            "filters": SPRING,
        },
        ("report", "campaign", "link", "platform"),
    ),
    "events": Shared(
        ViewKind.OVERVIEW,
        {"measures": ["events"], "group_by": ["event", "campaign"], "filters": SPRING},
        ("report", "event", "campaign"),
        "event",
    ),
    "funnel": Shared(
        ViewKind.FUNNEL,
        {
            "steps": [{"kind": "conversion", "filters": SPRING}, {"kind": "event", "name": "clicks"}],
            "group_by": ["campaign"],
        },
    ),
    "cohorts": Shared(
        ViewKind.COHORTS, {"filters": SPRING}, ("report", "time-to-sale", "new-and-returning"), "c"
    ),
    "clicks": Shared(ViewKind.CLICKS, {"filters": SPRING, "limit": 2}, word="outcome", allowed=("NZ",)),
    "sales": Shared(ViewKind.SALES, {"filters": SPRING}, word="credited"),
    "links": Shared(ViewKind.LINKS, {"filters": {"campaign": "spring"}, "order_by": "-revenue"}),
    # It names each of the last minutes, whatever happened in it.
    "live": Shared(ViewKind.LIVE, {"filters": SPRING}, allowed=(":10",)),
}
# Of a sale that the reports count: its customer, its order, and the minute.
CUSTOMER, ORDER = "ada@shop.example", "order-1042"


@pytest.fixture
async def reports(
    make_report: ReportFactory,
    database: Database,
    link: Link,
    organization: TestOrganization,
    now: datetime,
) -> dict[str, Report]:
    """Reports of one campaign without revenue, beside another campaign, with sales and a refund."""
    hidden = await make_link(database, organization, SECRET, now, utm_campaign=SECRET)
    for campaign_link in (link, hidden):
        await clicked(database, campaign_link, now - timedelta(days=1), 3, country="NZ")
        order, customer = f"{ORDER}-{campaign_link.link_name}", f"{CUSTOMER}-{campaign_link.link_name}"
        at = now - timedelta(days=1)
        await bought(database, campaign_link, at, AMOUNT, refunded="1.25", order=order, customer=customer)
    return {name: await make_report(kind=view.kind, query=view.query) for name, view in VIEWS.items()}


@pytest.fixture
async def empty_report(make_report: ReportFactory) -> Report:
    """A report whose token is tried elsewhere, where no kind of report is known."""
    return await make_report()


@pytest.fixture
async def other(make_organization: OrganizationFactory, database: Database, now: datetime) -> Report:
    """A report of another organization."""
    organization = await make_organization()
    theirs = await make_link(database, organization, SECRET, now, utm_campaign="spring")
    await clicked(database, theirs, now - timedelta(days=1), 77)
    fields = {"name": SECRET, "query": {"filters": {"campaign": ["spring"]}}}
    return await create_report(database, organization.id, fields, now)


def without_moment(text: str) -> str:
    """The page without the minute at which it was made."""
    return re.sub(r"As of [^(]+\(", "", text)


async def test_no_argument_changes_what_is_shown(
    reader: httpx.AsyncClient,
    reports: dict[str, Report],
    other: Report,
    organization: TestOrganization,
    link: Link,
) -> None:
    """Whatever stands behind the path, the page and the file stay the same, byte for byte.

    There is nothing else below the path.
    """
    for kind, report in reports.items():
        shared = VIEWS[kind]
        for name in (*NOTHING, other.token, other.id):
            assert (await reader.get(f"{path_of(report)}/{name}")).status_code == 404, (kind, name)
        for path in (path_of(report), *(f"{path_of(report)}/{name}.csv" for name in shared.files)):
            answer = await reader.get(path)
            shown = without_moment(answer.text)
            assert answer.status_code == 200
            assert shared.word in shown.lower()
            hidden = (
                *(SECRET, "7,654", "7654", organization.id, organization.domain, "Acme", "NZ", "revenue"),
                *(link.id, CUSTOMER, ORDER, ":10"),
            )
            # The table by link names the short URLs of what the report is of.
            of_link: tuple[str, ...] = (organization.domain, link.id) if path.endswith("/link.csv") else ()
            of_link = (organization.domain, link.path) if shared.kind is ViewKind.LINKS else of_link
            shown_too = (*shared.allowed, *of_link)
            # The rule of credit names what is credited, whether it is shown or not.
            told = shown.replace(CreditRules().in_words, "").replace(report.token, "")
            assert [word for word in hidden if word in told and word not in shown_too] == [], path
            for arguments in packed(ARGUMENTS):
                answer = await reader.get(path, params=arguments)
                assert (answer.status_code, without_moment(answer.text)) == (200, shown), arguments
            answer = await reader.post(path, data=ChainMap(*ARGUMENTS))
            assert (answer.status_code, without_moment(answer.text)) == (200, shown)


async def test_no_other_path_knows_the_token(
    reader: httpx.AsyncClient, empty_report: Report, other: Report
) -> None:
    """Neither other methods, nor parts of it, nor ids of reports; nor does it show another organization's."""
    report, path = empty_report, path_of(empty_report)
    for token in (
        report.id,
        other.id,
        report.token[:-1],
        f"{report.token}A",
        report.token.swapcase(),
        "",
        "*",
    ):
        assert (await reader.get(f"/shared/{token}")).status_code == 404, token
    for method in ("PUT", "PATCH", "DELETE"):
        assert (await reader.request(method, path, json={})).status_code == 405
    theirs = await reader.get(path_of(other))
    assert ">77<" in theirs.text
    assert ">77<" not in (await reader.get(path)).text


async def test_the_token_is_no_key(reader: httpx.AsyncClient, service: Service, empty_report: Report) -> None:
    """Every route of the REST API, the SDK's and the apps' refuses it in place of a key or an id."""
    tried = 0
    for rule in service.api.url_map.iter_rules():
        if not rule.rule.startswith("/serviceCore/pa/v1/") or rule.rule.endswith(("/docs", "/openapi.json")):
            continue
        path = re.sub("<.*>", empty_report.id, rule.rule)
        for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"}):
            for headers in (
                {"API-KEY": empty_report.token},
                {"Authorization": f"Bearer {empty_report.token}"},
            ):
                answer = await reader.request(method, path, json={}, headers=headers)
                assert answer.status_code == 401, f"{method} {path}"
                tried += 1
    assert tried > 40
    for path in ("/serviceCore/sdk/v1/batch", "/serviceCore/app/v1/open"):
        answer = await reader.post(
            path, json={"api_key": empty_report.token}, headers={"API-KEY": empty_report.token}
        )
        assert answer.status_code in {401, 403}, path


def is_for_members(service: Service, path: str) -> bool:
    """Whether somebody has to be signed in for this page of the dashboard."""
    endpoint, _ = service.api.url_map.bind("localhost").match(path)
    return needs_of(service.api.view_functions[endpoint]) is not None


async def test_the_token_is_no_session(
    reader: httpx.AsyncClient, service: Service, empty_report: Report
) -> None:
    """With it as a cookie, each page of the dashboard leads to the sign-in; no form is taken."""
    cookies = {"Cookie": f"waylink={empty_report.token}; __Host-waylink={empty_report.token}"}
    all_pages = routes("GET", {"report_id": empty_report.id})
    pages = [path for path in all_pages if is_for_members(service, path)]
    assert len(pages) > 20
    for path in pages:
        answer = await reader.get(path, headers=cookies)
        to = answer.headers.get("location", "").partition("?")[0]
        assert (answer.status_code, to) == (303, "/sign-in"), path
    for path in routes("POST", {"report_id": empty_report.id}):
        answer = await reader.post(path, data={"form_token": empty_report.token}, headers=cookies)
        assert answer.status_code == 403, path
