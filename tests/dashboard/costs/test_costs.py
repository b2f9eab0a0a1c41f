"""The pages of what campaigns cost: typed in, from a spreadsheet, and deleted."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from backend.domain.costs.cost import ToldCost
from backend.domain.costs.json_form import cost_json
from backend.storage.costs.costs import CostFilter, list_costs, tell_costs
from backend.storage.driver.mongo import Database
from tests.dashboard.campaigns import NOON, address, make_link, words
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization

PAGE, SHEET, DONE = "/costs", "/costs/sheet", "/costs/sheet/done"


async def stored(database: Database, organization: TestOrganization) -> list[list[str]]:
    """The organization's costs, the latest day first."""
    costs = await list_costs(database, organization.id, CostFilter(), limit=10)
    named = ("campaign", "day", "amount", "currency")
    return [[str(value) for name, value in cost_json(cost).items() if name in named] for cost in costs]


async def test_typed_in_and_deleted(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """A wrong field is named, and what was typed stays; what is saved again replaces the amount."""
    wrong = await person.send(
        PAGE, PAGE, campaign="spring", day="2026-03-01", amount="1,234", currency="EURO"
    )
    assert wrong.status_code == 422
    assert 'value="1,234"' in wrong.text
    assert "could be thousands or decimals" in words(wrong.text)
    for amount in ("12,50", "13.5"):
        sent = {"campaign": "spring", "day": "2026-03-01", "amount": amount, "currency": "eur"}
        assert (await person.send(PAGE, PAGE, **sent)).status_code == 303
    assert await stored(database, organization) == [["spring", "2026-03-01", "13.50", "EUR"]]
    page = await person.get(PAGE)
    shown = "spring No link and no visit has this campaign. 2026-03-01 13.50 EUR"
    assert shown in words(page.text)
    assert "1 cost, 13.50 EUR in all." in words(page.text)
    assert address(page.text, "spring") == "/?campaign=spring"
    clicks = address(page.text, "13.50 EUR")
    assert clicks == "/clicks?from=2026-03-01&to=2026-03-01&campaign=spring"
    assert (await person.get(clicks)).status_code == 200
    (delete,) = re.findall(r'action="(/costs/\w+/delete)"', page.text)
    assert (await person.send(PAGE, delete)).status_code == 303
    assert await stored(database, organization) == []


async def test_a_table_is_looked_at_and_then_saved(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """Rows with problems are left out, unknown campaigns are named; no other table than this one is saved."""
    await make_link(database, organization, "A", NOON, utm_campaign="Summer")
    text = "Campaign\tDay\tCost\nspring\t2026-03-01\t12.50\nspring\t3/2/2026\t5\nsummer\t2026-03-01\t7"
    checked = await person.send(SHEET, SHEET, sheet=text, currency="USD")
    assert checked.status_code == 200
    assert "2 costs can be saved. 1 row has a problem, and is left out." in words(checked.text)
    assert "day must be a day such as 2026-03-01" in words(checked.text)
    assert "2 campaigns are known of no link and no visit" in words(checked.text)
    assert "summer No link and no visit has this campaign. Is it Summer?" in words(checked.text).replace(
        "summerNo", "summer No"
    )
    assert await stored(database, organization) == []
    fields = FormsOf(checked.text).fields_of(SHEET)
    other = await person.client.post(DONE, data=fields | {"sheet": text + "\nautumn\t2026-03-01\t7"})
    assert other.status_code == 422
    assert await stored(database, organization) == []
    assert (await person.client.post(DONE, data=fields)).status_code == 303
    assert await stored(database, organization) == [
        ["spring", "2026-03-01", "12.50", "USD"],
        ["summer", "2026-03-01", "7.00", "USD"],
    ]
    unread = await person.send(SHEET, SHEET, sheet="campaign,clicks\nspring,5", currency="EUR")
    assert "none is called day or amount" in words(unread.text)


async def test_the_address_leaves_some(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """Of a campaign, of days with both ends, and in a currency; each can be taken away again."""
    for day, amount, currency in ((1, 5, "EUR"), (2, 7, "EUR"), (3, 11, "EUR"), (2, 13, "USD")):
        told = ToldCost("a b", date(2026, 3, day), Decimal(amount), currency)
        await tell_costs(database, organization.id, [told], NOON)
    some = "/costs?campaign=a+b&from=2026-03-01&to=2026-03-02"
    page = (await person.get(some)).text
    assert "3 costs, 12.00 EUR and 13.00 USD in all." in words(page)
    assert "Days: 2026-03-01 to 2026-03-02" in words(page)
    assert 'href="/costs?campaign=a+b"' in page
    assert "2 costs, 12.00 EUR in all." in words((await person.get(f"{some}&currency=EUR")).text)
    assert "No costs of this kind" in (await person.get("/costs?campaign=other")).text
