"""GET /analytics/export as Parquet: each column has its type, whatever is asked."""

from __future__ import annotations

from datetime import timedelta

import httpx

from backend.app import Service
from backend.domain.analytics.measures import Measure
from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.analytics.queries import START, export, fill
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.parquet_rows import as_parquet, read
from tests.facts.sdk_batches import Visitor, check, conversion

HOUR = timedelta(hours=1)
ALL = ",".join(measure for measure in Measure if measure is not Measure.CHANCE_OF_BEST)
COUNTED = "clicks visitors not_counted opens installs leads conversions events identities customers contacts"
COUNTS = dict.fromkeys(COUNTED.split(), "BIGINT")
SHARED = dict.fromkeys(("leads", "conversions", "events", "identities"), "DECIMAL(38,6)")
RATES = {"conversion_rate": "DOUBLE"}


def money(*names: str, **digits: int) -> dict[str, str]:
    """The types of amounts, of a column for each currency."""
    return {
        f"{name}_{code}": f"DECIMAL(38,{more + 4 * name.endswith('_per_click')})"
        for name in names
        for code, more in digits.items()
    }


QUERIES = (
    {"group_by": "day"},
    {"group_by": "week", "compare": "previous", "change": "true"},
    {"group_by": "month,link", "compare": "year"},
    {"group_by": "hour,country", "timezone": "Asia/Kathmandu"},
    {"group_by": "campaign,tag,domain", "currency": "EUR", "compare": "previous", "change": "true"},
    {"group_by": "event,outcome", "currency": "JPY"},
    {"model": "linear", "credit": "customer"},
    {"group_by": "variant", "measures": "clicks,chance_of_best"},
    {"group_by": "browser", "filters": '{"browser":["none"]}', "compare": "previous"},
)


async def test_types(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> None:
    """Rows, in their order, are those of the CSV file, and types follow from what is asked."""
    [link, _] = await fill(client, organization, database)
    await ship(database, [click(organization.id, LinkId(link), START, variant=variant) for variant in "AB"])
    await set_subscription(database, organization.id, utc_now() + timedelta(days=1))
    for query in QUERIES:
        await assert_types(client, organization, query)


async def assert_types(
    client: httpx.AsyncClient, organization: TestOrganization, query: dict[str, str]
) -> None:
    """The file for a query is that of CSV with types."""
    asked = {"measures": ALL} | query
    answer = await export(client, organization, format="parquet", **asked)
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="analytics.parquet"'
    table = read(answer.content)
    told = await export(client, organization, **asked)
    assert table.rows == as_parquet(told.text, table.types), query
    assert bool(table.rows) is ("filters" not in query)
    assert table.types == expected(query), query


def expected(query: dict[str, str]) -> dict[str, str]:
    """The types of the columns, in no order."""
    groups = [group for group in query.get("group_by", "").split(",") if group]
    times = {"day": "DATE", "week": "DATE", "month": "DATE", "hour": "TIMESTAMP WITH TIME ZONE"}
    types = {group: times.get(group, "VARCHAR") for group in groups}
    if "link" in groups:
        types |= {"link_name": "VARCHAR", "short_url": "VARCHAR"}
    if {"link", "campaign"}.intersection(groups) and "measures" not in query:
        types["kind"] = "VARCHAR"
    if set(times).intersection(groups):
        types["partial"] = "BOOLEAN"
    if "measures" in query:
        return types | {"clicks": "BIGINT", "chance_of_best": "DOUBLE"}
    measures = COUNTS | RATES | (SHARED if "model" in query else {})
    amounts = (
        "revenue",
        "refunds",
        "net_revenue",
        "revenue_per_click",
        "cost",
        "cost_per_click",
        "cost_per_conversion",
    )
    if "currency" in query or "filters" in query:
        digits = DIGITS.get(query.get("currency", ""), 2)
        measures |= {name.rstrip("_"): kind for name, kind in money(*amounts, **{"": digits}).items()}
        measures |= {"return_on_ad_spend": "DOUBLE"}
    else:
        split = {f"conversions_{currency}": measures["conversions"] for currency in DIGITS}
        returns = {f"return_on_ad_spend_{currency}": "DOUBLE" for currency in DIGITS}
        measures |= split | returns | money(*amounts, **DIGITS)
    if "compare" in query:
        types |= {f"previous_{name}": kind for name, kind in measures.items()}
    if "change" in query:
        types |= {f"change_{measure}": "DOUBLE" for measure in ALL.split(",")}
    return types | measures


DIGITS = {"EUR": 2, "JPY": 0}


async def test_shared_credit(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Parts of sales are rounded as they are in CSV, and decimals."""
    visitor = Visitor(client, organization)
    await visitor.results(
        *(check(ago=(4 - n) * HOUR, utm_source=name) for n, name in enumerate(("news", "ads", "mail"))),
        conversion(revenue=10),
    )
    days = {name: f"{utc_now() + timedelta(days=n):%Y-%m-%d}" for name, n in (("from", -2), ("to", 2))}
    asked = {"group_by": "source", "measures": "conversions,revenue", "model": "linear", **days}
    table = read((await export(client, organization, format="parquet", **asked)).content)
    assert sorted(str(row[2]) for row in table.rows) == ["0.333333"] * 3
    assert table.rows == as_parquet((await export(client, organization, **asked)).text, table.types)


async def test_installs_need_a_subscription(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """The same is refused as in other forms."""
    answer = await export(client, organization, measures="installs", format="parquet")
    assert (answer.status_code, answer.json()["code"]) == (403, 115)


async def test_a_request_for_the_head_makes_no_file(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization
) -> None:
    """HEAD is answered with the headers alone."""
    answer = await client.head(
        "/serviceCore/pa/v1/analytics/export", params={"format": "parquet"}, headers=organization.headers
    )
    assert (answer.status_code, answer.content) == (200, b"")
    files = service.resources.settings.data_dir / "analytics" / "files"
    assert not files.exists() or not list(files.iterdir())
