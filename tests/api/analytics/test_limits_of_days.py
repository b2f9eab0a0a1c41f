"""Limits in days count days of a clock, also where it is put back: such a day has an hour more."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.link_calls import API
from tests.facts.organizations import TestOrganization

TEN_YEARS = {"from": "2016-10-22", "to": "2026-10-30"}
STEPS = [{"kind": "click"}, {"kind": "lead"}]
# The longest periods that begin in summer and end in winter.
LONGEST: list[tuple[str, dict[str, Any]]] = [
    ("query", TEN_YEARS),
    ("query", {"from": "2025-10-01", "to": "2026-01-09", "group_by": ["hour"]}),
    ("cohorts", {"from": "2024-10-01", "to": "2025-11-05"}),
    ("time-to-sale", TEN_YEARS),
    ("new-and-returning", TEN_YEARS),
    ("funnel", {**TEN_YEARS, "steps": STEPS}),
]


@pytest.mark.parametrize(("operation", "query"), LONGEST)
async def test_a_clock_that_is_put_back(
    client: httpx.AsyncClient, organization: TestOrganization, operation: str, query: dict[str, Any]
) -> None:
    """The longest period of an operation is as many days of Berlin as of UTC, and no quarter more."""
    url = f"{API}/analytics/{operation}"
    longer = query["to"] + "T00:15:00+01:00"
    for timezone, end, status in (
        ("Europe/Berlin", query["to"], 200),
        ("UTC", query["to"], 200),
        ("Europe/Berlin", longer, 400),
    ):
        body = query | {"timezone": timezone, "to": end}
        answer = await client.post(url, json=body, headers=organization.headers)
        assert answer.status_code == status, answer.text


async def test_single_clicks(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Days of times that are written with offsets count by these."""
    for start, end, status in (
        ("2024-10-01T00:00:00+02:00", "2025-11-05T00:00:00+01:00", 200),
        ("2024-10-01T00:00:00+02:00", "2025-11-05T00:00:01+01:00", 400),
        ("2024-10-01", "2025-11-05", 200),
        ("2024-10-01", "2025-11-05T00:00:01Z", 400),
    ):
        asked = {"from": start, "to": end}
        answer = await client.get(f"{API}/clicks/export", params=asked, headers=organization.headers)
        assert answer.status_code == status, answer.text
