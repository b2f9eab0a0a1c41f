"""What is not known is null in every row and file, and found by the filter null, whatever the field."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.system.clock import utc_now
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization
from tests.facts.parquet_rows import read
from tests.polling import wait_for_async
from tests.redirector.user_agents import CLIENTS

[FIREFOX] = [
    agent for named in CLIENTS.values() for name, agent in named.items() if name == "Firefox on Linux"
]
# Of a request without a header, from an address that is in no list of countries.
UNKNOWN = (
    "system",
    "browser",
    "country",
    "referrer",
    "campaign",
    "source",
    "medium",
    "term",
    "content",
    "tag",
)
PERIOD = {name: f"{utc_now() + timedelta(days=days):%Y-%m-%d}" for name, days in (("from", -1), ("to", 2))}


@pytest.fixture
async def asked(client: httpx.AsyncClient, organization: TestOrganization) -> TestOrganization:
    """An organization, one of whose links somebody of whom nothing is known asked for, and somebody else."""
    plain, told = [
        await create(client, organization, selected_path=path, **fields)
        for path, fields in (("plain", {}), ("told", {"utm_campaign": "spring"}))
    ]
    for url, agent in ((plain, ""), (plain, "-"), (told, FIREFOX)):
        headers = {"host": organization.domain, "user-agent": agent}
        answer = await client.get(f"/{url.rpartition('/')[2]}", headers=headers)
        assert answer.status_code in {302, 307}

    async def clicks() -> int:
        return int((await answered(client, organization))["totals"]["clicks"])

    await wait_for_async(clicks, "the clicks are not there", lambda count: count == 3)
    return organization


async def answered(client: httpx.AsyncClient, organization: TestOrganization, **query: Any) -> dict[str, Any]:
    """The answer to a query."""
    answer = await client.post(f"{API}/analytics/query", json=PERIOD | query, headers=organization.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_rows_and_filters(client: httpx.AsyncClient, asked: TestOrganization) -> None:
    """Both are in one row, which the filter null leaves alone, and not null leaves out."""
    for field in UNKNOWN:
        rows = (await answered(client, asked, group_by=[field]))["rows"]
        unknown = [row["clicks"] for row in rows if row[field] is None]
        assert len(unknown) == 1, rows
        assert not any(row[field] == "" for row in rows), rows
        for chosen, count in (([None], unknown[0]), ({"not": [None]}, 3 - unknown[0])):
            totals = (await answered(client, asked, filters={field: chosen}))["totals"]
            assert totals["clicks"] == count, (field, chosen)


async def test_files(client: httpx.AsyncClient, asked: TestOrganization) -> None:
    """It is empty in CSV, and null in lines of JSON and in Parquet; of single clicks likewise."""
    for path, field, parameters in (
        ("analytics/export", "browser", {"group_by": "browser"}),
        ("analytics/export", "system", {"group_by": "system"}),
        ("clicks/export", "browser", {}),
        ("clicks/export", "system", {}),
    ):
        found: dict[str, list[object]] = {}
        for form in ("csv", "ndjson", "parquet"):
            asked_for = PERIOD | parameters | {"format": form}
            answer = await client.get(f"{API}/{path}", params=asked_for, headers=asked.headers)
            assert answer.status_code == 200, answer.text
            match form:
                case "csv":
                    found[form] = [row[field] or None for row in csv.DictReader(io.StringIO(answer.text))]
                case "ndjson":
                    found[form] = [json.loads(line)[field] for line in answer.text.splitlines()]
                case _:
                    table = read(answer.content)
                    found[form] = [row[list(table.types).index(field)] for row in table.rows]
        assert found["csv"].count(None) == (1 if "group_by" in parameters else 2), found
        assert sorted(map(str, found["csv"])) == sorted(map(str, found["ndjson"]))
        assert sorted(map(str, found["csv"])) == sorted(map(str, found["parquet"]))
