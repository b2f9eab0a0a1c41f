"""What POST /analytics/query and GET /analytics/export refuse."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.rest_api.analytics.query import MOST_BYTES
from tests.api.analytics.queries import EXPORT, QUERY, as_parameters, ask, export
from tests.facts.organizations import TestOrganization

REFUSED: list[tuple[Any, ...]] = [
    ({"measures": ["clickz"]}, "measures", "must be one of clicks, visitors"),
    ({"measures": []}, "measures", "must have from 1 to 21 entries"),
    ({"measures": "clicks"}, "measures", "must be a list"),
    ({"measures": ["clicks", "clicks"]}, "measures", "must not have one twice"),
    ({"measures": ["sales"]}, "measures", "must be one of"),
    ({"group_by": ["mood"]}, "group_by", "must be one of day, week"),
    (
        {"group_by": ["day", "link", "country", "system", "event"]},
        "group_by",
        "must have from 0 to 4 entries",
    ),
    ({"group_by": ["day", "week"]}, "group_by", "must have at most one of day, week, month, hour"),
    (
        {"group_by": ["link"], "measures": ["chance_of_best"]},
        "measures",
        "can't have chance_of_best without variant in group_by",
    ),
    ({"change": True}, "change", "needs compare"),
    ({"change": "yes", "compare": "year"}, "change", "must be true or false"),
    ({"order_by": "-change.clicks", "compare": "year"}, "order_by", "can't be change.clicks without change"),
    ({"order_by": "difference.clicks"}, "order_by", "can't be difference.clicks without compare"),
    ({"order_by": "clicks.EUR"}, "order_by", "can't have a currency behind clicks"),
    (
        {"order_by": "revenue.ZZZ", "measures": ["revenue"]},
        "order_by",
        "must be an ISO 4217 currency code",
    ),
    (
        {"order_by": "change.visitors", "compare": "year", "change": True},
        "order_by",
        "must be one of clicks",
    ),
    ({"order_by": "change.day", "group_by": ["day"]}, "order_by", "must be one of measures and group_by"),
    ({"week_starts": "friday"}, "week_starts", "must be one of monday, sunday"),
    ({"timezone": "Mars/Olympus"}, "timezone", "must be the IANA name"),
    ({"timezone": "../../etc/passwd"}, "timezone", "must be the IANA name"),
    ({"timezone": "Europe"}, "timezone", "must be the IANA name"),
    ({"timezone": None}, "timezone", "must be a string"),
    ({"from": "2026-03-09"}, "to", "must be after from"),
    ({"from": "2026-03-08"}, "to", "must be after from"),
    ({"from": "1026-03-01"}, "from", "must be between 2012-01-01 and 2200-01-01"),
    ({"to": "3026-03-01"}, "to", "must be between"),
    ({"from": "0001-01-01", "timezone": "Asia/Kathmandu"}, "from", "must be"),
    ({"to": "9999-12-31", "timezone": "America/New_York"}, "to", "must be"),
    ({"from": "2013-03-01"}, "from", "must be at most 3,660 days before to"),
    ({"from": "2025-03-01", "group_by": ["hour"]}, "group_by", "with hour needs a period of at most"),
    ({"from": "2026-03-01T12:00:01Z"}, "from", "must be at a quarter of an hour"),
    ({"from": "2026-03-01T12:00:00"}, "from", "must be a date, or an ISO 8601 time with a zone"),
    ({"from": 20260301}, "from", "must be a date"),
    ({"filters": {"mood": ["x"]}}, "filters.mood", "can't be filtered by; possible are link, domain"),
    ({"filters": {"day": ["2026-03-01"]}}, "filters.day", "can't be filtered by"),
    ({"filters": {"campaign": []}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"not": []}}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"not": "x"}}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"prefix": ""}}}, "filters.campaign", "must have from 1 to 1024 characters"),
    (
        {"filters": {"campaign": {"prefix": "x", "not": ["y"]}}},
        "filters.campaign",
        "must be a list of 1 to 200 texts or null, or an object with not or prefix",
    ),
    ({"filters": {"campaign": [{"$ne": None}]}}, "filters.campaign", "must be a string"),
    ({"filters": {"link": ["x"]}}, "filters.link", "must be a UUID"),
    ({"filters": []}, "filters", "must be an object of lists"),
    ({"compare": "week"}, "compare", "must be one of previous, year"),
    ({"currency": "XYZ"}, "currency", "must be an ISO 4217 currency code"),
    ({"credit": "visitor"}, "credit", "must be one of device, customer"),
    ({"model": "middle"}, "model", "must be one of last_non_direct, last, first, linear, position_based"),
    ({"lookback_days": 0}, "lookback_days", "must be a whole number from 1 to 3660"),
    ({"as_of": "yesterday"}, "as_of", "must be"),
    ({"as_of": "9999-12-31"}, "as_of", "must be a date that can be reckoned with"),
    ({"order_by": "-revenue"}, "order_by", "must be one of clicks"),
    ({"order_by": "-revenue", "measures": ["revenue"]}, "order_by", "can't be revenue without currency"),
    ({"order_by": "nonsense"}, "order_by", "must be one of measures and group_by"),
    ({"limit": 0}, "limit", "must be a whole number from 1 to 10000"),
    ({"limit": True}, "limit", "must be a whole number"),
    ({"cursor": "x"}, "cursor", "is not one that was answered here"),
    ({"nonsense": 1}, "nonsense", "is not a field of this request"),
]  # fmt: skip


async def test_what_cannot_be_asked(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The decided 400, which names the field and what is possible; the export says the same."""
    for query, field, rule in REFUSED:
        answer = await ask(client, organization, **query)
        assert answer.status_code == 400
        error = answer.json()
        assert (error["code"], error["error"]["fieldName"]) == (101, field)
        assert error["error"]["errorMessage"].startswith(f"{field} {rule}"), error


async def test_what_cannot_be_exported(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The same is refused as parameters, by the error shape of query strings."""
    for query, field, _ in REFUSED:
        if query == {"measures": "clicks"}:
            continue  # the very way to say it here
        answer = await export(client, organization, **as_parameters(query))
        error = answer.json()
        assert (answer.status_code, error["code"], error["error"]["fieldName"]) == (400, 400, field), error


@pytest.mark.parametrize("to", ["0001-01-29", "9999-12-31T23:45:00Z"])
async def test_an_end_before_which_there_are_no_days(
    client: httpx.AsyncClient, organization: TestOrganization, to: str
) -> None:
    """Without `from`, an end at the edge of all dates is refused like any other that is too far off."""
    query = {"to": to, "timezone": "Asia/Tokyo"}
    answer = await client.post(QUERY, json=query, headers=organization.headers)
    assert (answer.status_code, answer.json()["code"]) == (400, 101)
    answer = await client.get(EXPORT, params=query, headers=organization.headers)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "to")


async def test_a_body_that_is_too_large(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Filters may name many links, and there is an end to it."""
    body = b" " * (MOST_BYTES + 1)
    answer = await client.post(QUERY, content=body, headers=organization.headers)
    assert (answer.status_code, answer.json()["code"]) == (413, 413)


async def test_a_query_string_is_refused(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A query stands in the body: what is in the address would be left out without a word."""
    answer = await client.post(f"{QUERY}?limit=1", json={}, headers=organization.headers)
    assert answer.json()["error"] == {
        "errorMessage": "limit is not a parameter of this request", "fieldName": "limit",
    }  # fmt: skip
