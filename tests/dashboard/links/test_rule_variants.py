"""What the variants of a link's split brought, on the page of its rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import httpx

from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, link_body
from tests.dashboard.campaigns import words
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization

THERE = {"destination_url": "https://shop.example/there"}
SPLIT = {
    "split": [{"name": name, "weight": 1, "destination_url": f"https://shop.example/{name}"} for name in "ab"]
}


async def make_link(client: httpx.AsyncClient, organization: TestOrganization, *rules: dict[str, Any]) -> str:
    """A link with these rules; the address of their page."""
    body = link_body(organization, rules=rules)
    answer = await client.post(f"{API}/links", json=body, headers=organization.headers)
    return f"/links/{answer.json()['id']}/rules"


async def test_what_variants_brought(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Clicks and what came of them, and a verdict, also on the link's page; nothing without a split."""
    page = await make_link(client, organization, {"then": SPLIT})
    assert "No clicks yet." in (await person.get(page)).text
    now, link_id = datetime.now(UTC), LinkId(page.split("/")[2])
    counts = [("a", 40), ("b", 30), (None, 5)]
    made = [
        click(organization.id, link_id, now, variant=variant)
        for variant, count in counts
        for _ in range(count)
    ]
    await ship(database, made)
    answer = await person.get(page)
    assert re.findall(r'data-label="Clicks">(\d+)<', answer.text) == ["40", "30"]
    assert re.findall(r'data-label="Gets">(.*?)<', answer.text) == ["50 %", "50 %"]
    verdict = "Too early to tell: 0 of at least 25 conversions. “b” is ahead, with a chance of 5"
    assert verdict in words(answer.text)
    assert verdict in words((await person.get(page.removesuffix("/rules"))).text)
    without = await make_link(client, organization, {"then": THERE})
    assert "to convert best" not in (await person.get(without)).text


async def test_a_rule_that_is_never_reached(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """What stands behind a rule for everybody is marked."""
    german = {"if": {"country": ["DE"]}, "then": THERE}
    page = await make_link(client, organization, german, {"then": THERE}, german)
    assert (await person.get(page)).text.count("Never reached: rule 2 fits everybody.") == 1
