"""A key that is limited to some links reaches nothing else, over every operation, whichever they are."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from backend.domain.accounts.permissions import OF_LIMITED_KEYS
from backend.rest_api.openapi.operations import OPERATIONS
from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link
from backend.storage.links.tags import create_tag
from backend.storage.links.utm_templates import create_template
from tests.api.limited_keys import LimitedKey, limited_key
from tests.api.link_calls import link_body
from tests.api.whole_links import Links
from tests.dashboard.campaigns import bought, clicked
from tests.facts.organizations import TestOrganization

# The name of everything about the link out of reach, and what figures only it has.
SECRET = "their-secret"
AMOUNT, COUNTRY = "7654.25", "NZ"
NOW = datetime.now(UTC)
BEGIN, END = (f"{NOW - timedelta(days=days):%Y-%m-%d}" for days in (20, 2))
PERIOD = {"from": BEGIN, "to": END}
SALES = {"measures": ["clicks", "conversions", "revenue", "customers", "visitors", "cost"], **PERIOD}
SALES_FILE = {**PERIOD, "measures": "clicks,revenue"}
# What is answered without a look at figures.
OF_LINKS = frozenset(
    {
        "get_link",
        "list_links",
        "links_page",
        "links_info",
        "get_qr_code",
        "print_qr_codes",
        "get_taps",
        "get_tags",
    }
)
OF_FIGURES = frozenset(
    {
        "query_analytics",
        "export_analytics",
        "click_analytics",
        "install_analytics",
        "query_cohorts",
        "query_time_to_sale",
        "query_new_and_returning",
        "ask_funnel",
        "export_clicks",
    }
)


@dataclass(frozen=True)
class Asked:
    """What is asked of an operation: a query string, or a body."""

    query: Mapping[str, str]
    body: object = None


def asked(secret: Mapping[str, Any], organization: TestOrganization) -> dict[str, Sequence[Asked]]:
    """For each operation that a limited key may call, what could tell of the link out of reach."""
    link_id, short_url = str(secret["id"]), str(secret["short_url"])
    new = link_body(organization)

    def bodies(*sent: object) -> list[Asked]:
        return [Asked({}, body) for body in sent]

    def queries(*sent: Mapping[str, str]) -> list[Asked]:
        return [Asked(query) for query in sent]

    steps = [{"kind": "click"}, {"kind": "conversion"}]
    funnel = {**PERIOD, "within_days": 1}
    named = [{**step, "filters": {"campaign": [SECRET]}} for step in steps]
    filters: list[dict[str, Any]] = [
        {},
        {"link": [link_id]},
        {"link": {"not": [str(uuid.UUID(int=7))]}},
        {"tag": [SECRET, None]},
        {"domain": {"prefix": organization.domain}},
        {"campaign": {"not": ["x"]}},
        {"country": [COUNTRY]},
    ]
    groups = [[], ["link"], ["tag"], ["campaign", "day"], ["country"], ["link", "tag"], []]
    credit: dict[str, Any] = {"compare": "previous", "change": True, "credit": "customer", "model": "linear"}
    asks: list[dict[str, Any]] = [
        {"filters": chosen, "group_by": group} for chosen, group in zip(filters, groups, strict=True)
    ]
    found: dict[str, Sequence[Asked]] = {
        "create_link": bodies({**new, "selected_path": SECRET}),
        "post_link": bodies(
            {**new, "external_id": SECRET},
            {**new, "tags": [SECRET]},
            {**new, "utm_template": SECRET},
        ),
        "duplicate_link": bodies({}),
        "get_link": queries({}),
        "patch_link": bodies({"link_name": "taken"}, {"add_tags": ["agency"]}),
        "delete_link": queries({}, {"purge": "true"}, {"purge": "true", "force": "true"}),
        "fill_preview": bodies(None),
        "update_link": bodies({"link_name": "taken"}),
        "change_status": bodies({"is_enabled": False}),
        "bulk_links": bodies(
            {
                "operations": [
                    {"op": "update", "id": link_id, "link": {"link_name": "taken"}},
                    {"op": "archive", "id": link_id},
                    {"op": "upsert", "link": {**new, "external_id": SECRET}},
                ]
            }
        ),
        "links_page": queries({}, {"size": "100", "createdBy": "api_rest"}),
        "list_links": queries(
            *({"sort": sort} for sort in ("created", "-name", "clicks_7", "-clicks_30")),
            *({name: SECRET} for name in ("search", "tag", "campaign", "external_id")),
            {"domain": organization.domain, "state": "enabled"},
        ),
        "links_info": bodies({"shortUrl": short_url}),
        "get_qr_code": queries({}),
        "print_qr_codes": bodies({"links": [link_id]}),
        "get_taps": queries({}),
        "get_tags": queries({}),
        "query_analytics": bodies(*({**SALES, **ask} for ask in [*asks, credit])),
        "export_analytics": queries(
            {**SALES_FILE, "format": "csv", "group_by": "link,campaign,tag"},
            {**SALES_FILE, "format": "ndjson", "filters": json.dumps({"tag": [SECRET]})},
        ),
        "click_analytics": bodies({"linkId": link_id}, {"shortUrl": short_url}),
        "install_analytics": bodies({"linkId": link_id}, {"shortUrl": short_url}),
        "query_cohorts": bodies(PERIOD),
        "query_time_to_sale": bodies(PERIOD),
        "query_new_and_returning": bodies(PERIOD),
        "ask_funnel": bodies(
            {**funnel, "steps": steps},
            {**funnel, "steps": named, "group_by": ["link"]},
            {**funnel, "steps": steps[::-1], "by": "customer", "ordered": False, "group_by": ["tag"]},
        ),
        "export_clicks": queries(
            {"from": f"{BEGIN}T00:00:00Z"}, {"from": f"{BEGIN}T00:00:00Z", "link": link_id}
        ),
    }
    return found


async def told(
    key: LimitedKey, secret: Mapping[str, Any], endpoints: Iterable[str], most: int | None = None
) -> dict[tuple[str, int], httpx.Response]:
    """What these operations answer to all that is asked of them, or to the first `most`."""
    sent = asked(secret, key.organization)
    answers = {}
    for operation in OPERATIONS:
        if operation.endpoint in endpoints:
            path = re.sub("<[^>]+>", str(secret["id"]), operation.path)
            for number, ask in enumerate(sent[operation.endpoint][:most]):
                path_with_query = f"{path}?{urlencode(ask.query)}" if ask.query else path
                answer = await key.call(operation.method, path_with_query, ask.body)
                answers[operation.endpoint, number] = answer
    return answers


@pytest.fixture
def all_links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The organization's links, by a key that reaches all."""
    return Links(client, organization)


@pytest.fixture
async def secret(all_links: Links, database: Database, organization: TestOrganization) -> dict[str, Any]:
    """A link with the tag `secret`, beside another one with the tag `agency`, which was clicked and sold."""
    await set_subscription(database, organization.id, NOW + timedelta(days=9))
    for name in ("agency", SECRET):
        await create_tag(database, organization.id, name, None, NOW)
    await create_template(database, organization.id, SECRET, {"utm_source": SECRET}, NOW)
    own = await all_links.make(link_name="own", tags=["agency"], utm_campaign="own")
    fields = {"external_id": SECRET, "selected_path": SECRET, "utm_campaign": SECRET, "tags": [SECRET]}
    made = await all_links.make(link_name=SECRET, destination_url=f"https://{SECRET}.example", **fields)
    await happened(database, own, "own", "11.00", 2)
    return made


async def happened(
    database: Database, link: Mapping[str, Any], name: str, amount: str, clicks: int, country: str = "DE"
) -> None:
    """The link was clicked and sold, in the time that is asked about and in the time before it."""
    stored = await find_link(database, link["id"], link["org_id"])
    assert stored
    for days in (5, 25):
        at = NOW - timedelta(days=days)
        await clicked(database, stored, at, clicks, country=country)
        await bought(
            database, stored, at, amount, order=f"{name}-{days}", customer=f"{name}-{days}@shop.example"
        )


@pytest.fixture
async def agency(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, secret: Mapping[str, Any]
) -> LimitedKey:
    """A key that reaches all but the link out of reach."""
    assert secret
    return await limited_key(client, database, organization, tags=["agency"])


async def test_every_operation_holds_to_the_limit_or_refuses_the_key(
    agency: LimitedKey, secret: Mapping[str, Any]
) -> None:
    """Operations that let a limited key in are those below; all others refuse it with 403, in shape A."""
    holding = {operation.endpoint for operation in OPERATIONS if operation.holds_reach}
    assert holding == {*asked(secret, agency.organization)}
    for operation in OPERATIONS:
        if operation.endpoint not in holding:
            path = re.sub("<[^>]+>", str(secret["id"]), operation.path)
            answer = await agency.call(operation.method, path, None if operation.method == "GET" else {})
            assert answer.status_code == 403, operation.endpoint
            needed = {permission in OF_LIMITED_KEYS for permission in operation.needs}
            name = "KEY_LIMITED" if needed == {True} else "SCOPE_MISSING"
            assert answer.json()["error"]["fieldName"] == name, operation.endpoint


async def test_no_answer_tells_of_a_link_out_of_reach(
    agency: LimitedKey, all_links: Links, secret: Mapping[str, Any]
) -> None:
    """Whatever is asked, nothing names it that was not in the request, and it stays as it is.

    What is answered about figures, the test below looks at.
    """
    sent = asked(secret, agency.organization)
    unlimited = replace(agency, key=agency.organization.rest_key)
    told_others = await told(unlimited, secret, OF_LINKS)
    assert {
        endpoint for (endpoint, _), answer in told_others.items() if answer.status_code == 200
    } == OF_LINKS
    assert_nothing_told(secret, sent, await told(agency, secret, sent.keys() - OF_FIGURES))
    assert await all_links.get(secret["id"]) == secret


def assert_nothing_told(
    secret: Mapping[str, Any],
    sent: Mapping[str, Sequence[Asked]],
    answers: Mapping[tuple[str, int], httpx.Response],
) -> None:
    """No answer names the link out of reach, but a refusal that repeats the request's own words."""
    for (endpoint, number), answer in answers.items():
        ask = sent[endpoint][number]
        asked_for = json.dumps([ask.query, ask.body]) if answer.status_code in {400, 404} else ""
        marks = [mark for mark in (SECRET, str(secret["id"])) if mark not in asked_for]
        assert not [mark for mark in marks if mark in answer.text], (endpoint, number, answer.text)


async def test_a_link_out_of_reach_is_as_none(agency: LimitedKey, secret: Mapping[str, Any]) -> None:
    """What it is asked about by id or short URL gets the answer of what does not exist, byte for byte."""
    nobodys = dict(secret) | {"id": str(uuid.uuid4())}
    nobodys["short_url"] = secret["short_url"].replace(SECRET, "nobody's")
    asked_by_name = OF_LINKS - {"list_links", "links_page", "get_tags"} | {
        *("patch_link", "duplicate_link", "delete_link", "fill_preview", "update_link", "change_status"),
        *("click_analytics", "install_analytics", "export_clicks"),
    }
    of_secret, of_nobody = [await told(agency, link, asked_by_name) for link in (secret, nobodys)]
    for ask, answer in of_secret.items():
        assert answer.status_code >= 400, ask
        assert (answer.status_code, answer.text) == (of_nobody[ask].status_code, of_nobody[ask].text), ask


async def test_no_figure_counts_what_is_out_of_reach(
    agency: LimitedKey, database: Database, secret: Mapping[str, Any]
) -> None:
    """No answer about figures names another link or changes by its clicks and sales, while others' answers
    do."""
    unlimited = replace(agency, key=agency.organization.rest_key)
    before = await told(agency, secret, OF_FIGURES)
    others_before = await told(unlimited, secret, OF_FIGURES, most=1)
    await happened(database, secret, SECRET, AMOUNT, 77, COUNTRY)
    after = await told(agency, secret, OF_FIGURES)
    others_after = await told(unlimited, secret, OF_FIGURES, most=1)
    for ask, answer in after.items():
        assert answer.text == before[ask].text, ask
    assert_nothing_told(secret, asked(secret, agency.organization), after)
    changed = {ask for ask, answer in others_after.items() if answer.text != others_before[ask].text}
    assert changed == {(endpoint, 0) for endpoint in OF_FIGURES - {"install_analytics"}}
    totals = after["query_analytics", 0].json()["totals"]
    assert (totals["clicks"], totals["conversions"], totals["cost"]) == (2, 1, None)
    assert totals["revenue"] == [{"currency": "EUR", "amount": "11.00"}]
    assert after["query_time_to_sale", 0].json()["conversions"] == 1
    assert after["query_new_and_returning", 0].json()["new"]["customers"] == 1
    weeks = [cohort["customers"] for cohort in after["query_cohorts", 0].json()["cohorts"]]
    assert sum(weeks) == 1


async def test_pages_go_on_for_the_same_key_only(
    agency: LimitedKey, database: Database, secret: Mapping[str, Any]
) -> None:
    """A limited key does not go on where another key's list or query had got to, among links out of reach."""
    unlimited = replace(agency, key=agency.organization.rest_key)
    for path in ("/links?size=1", "/links?size=1&sort=-clicks_30"):
        cursor = (await unlimited.call("GET", path)).json()["next_cursor"]
        answer = await agency.call("GET", f"{path}&cursor={cursor}")
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "cursor")
    await happened(database, secret, SECRET, AMOUNT, 1)
    query = {**PERIOD, "group_by": ["link"], "limit": 1}
    cursor = (await unlimited.call("POST", "/analytics/query", query)).json()["next_cursor"]
    refused = await agency.call("POST", "/analytics/query", query | {"cursor": cursor})
    assert refused.json()["error"]["fieldName"] == "cursor"
