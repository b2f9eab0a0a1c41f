"""Whose a step of a funnel is (docs/decisions/funnels.md, "The definition")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.api.apps.test_app_sales import send
from tests.api.apps.test_counted_opens import App
from tests.api.funnels.test_ask import ask
from tests.api.link_calls import create, info
from tests.api.sales.test_by_click import clicked
from tests.api.told_sales import SALE, tell
from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
STEPS = [{"kind": "click"}, {"kind": "conversion"}]


async def counts(client: httpx.AsyncClient, of: TestOrganization, by: str) -> list[int]:
    """How many clicked, and how many of these bought; by device or by customer."""
    answer = await ask(client, of, steps=STEPS, by=by)
    return [step["count"] for step in answer.json()["steps"]]


@pytest.mark.parametrize(("who", "by"), [("customer_id", "customer"), ("device_id", "device")])
async def test_a_click_that_only_a_server_named(
    client: httpx.AsyncClient, organization: TestOrganization, who: str, by: str
) -> None:
    """An unknown device did both, until somebody is named as who bought: then nobody did the click, unless
    the same item names both."""
    click_id = (await clicked(client, organization))["cl_click_id"]
    buyer = {who: Visitor(client, organization).device_id}
    await tell(client, organization, "conversions", SALE | {"click_id": click_id})
    assert [await counts(client, organization, either) for either in ("device", "customer")] == [[1, 1]] * 2
    await tell(client, organization, "conversions", SALE | buyer)
    assert await counts(client, organization, by) == [0, 0]
    await tell(client, organization, "conversions", SALE | buyer | {"click_id": click_id})
    assert await counts(client, organization, by) == [1, 1]


async def test_a_click_on_a_device_that_changes_hands(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """It is whose the device is when its visit is, and happened when it was clicked."""
    clock.offset = -HOUR
    signals = await clicked(client, organization)
    clock.offset = timedelta()
    await Visitor(client, organization).results(
        call("identify", ago=2 * HOUR, customer_id="ada"),
        call("identify", ago=HOUR / 2, customer_id="bob"),
        check(ago=HOUR / 3, **signals),
    )
    bought = [SALE | {"customer_id": name, "transaction_id": name} for name in ("ada", "bob")]
    await tell(client, organization, "conversions", bought[0])
    assert await counts(client, organization, "customer") == [1, 0]
    await tell(client, organization, "conversions", bought[1])
    assert await counts(client, organization, "customer") == [1, 1]
    answer = await ask(client, organization, steps=STEPS, by="customer")
    assert answer.json()["steps"][1]["median_seconds"] == pytest.approx(HOUR.total_seconds(), abs=60)


async def test_an_open_of_an_app(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """It is a step of an installation whose id is a UUID and whose person consented, and of no other."""
    link_id = (await info(client, organization, await create(client, organization)))["id"]
    app = App(client, organization)
    await app.open(link_id=link_id)
    await send(app, conversion(revenue=20))
    await app.open(link_id=link_id, install_id="no uuid")
    await App(client, organization).open(link_id=link_id, has_consent=False)
    [row] = await app.figures("clicks", "conversions", "conversion_rate", group_by=["link"])
    assert [row[name] for name in ("clicks", "conversions", "conversion_rate")] == [3, 1, 0.333333]
    answer: Any = (await ask(client, organization, steps=STEPS)).json()
    assert [step["count"] for step in answer["steps"]] == [1, 1]
    assert any(note.startswith("3 clicks were counted") and "told of 1" in note for note in answer["notes"])
