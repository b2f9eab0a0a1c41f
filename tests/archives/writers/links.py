"""Writers of links, of what is said about them, and of their clicks."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from backend.domain.clicks.block import MOST_CLICKS
from backend.domain.clicks.packed_columns import LONGEST_TEXT
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import JsonObject, WebAddress
from backend.domain.links.input import EXTERNAL_ID, HOLD_REASON, OPTIONAL, REQUIRED
from backend.domain.links.links import UTM_FIELDS
from backend.domain.links.reports import REPORT_TEXT, LinkReport, ReportReason
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.ledger.statement_signing import sign_days
from backend.storage.links.destinations.broken import BrokenDestination, keep_results
from backend.storage.links.qr_logos import set_logo
from backend.storage.links.reports import MOST_KEPT, add_report
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.links.writing.holds import hold_link
from tests.api.told_sales import API
from tests.archives.longest import large_object, long_path, long_text, long_url, longest, longest_of
from tests.archives.writers.place import Place
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all

# More than the thousand that archives took of a list.
MANY = 1_200
# One of 400 x 400 pixels that no compression makes smaller has so many bytes.
_LARGEST_LOGO = 400 * 400 * 4


async def write_links(place: Place) -> None:
    """Every text, address and object of a link as long as it may be, and as large rules as it may have."""
    fields = place.draw(longest_of({**REQUIRED, **OPTIONAL}))
    rule = {"if": {"country": ["DE"]}, "then": {"destination_url": place.draw(long_url(2_000))}}
    body = fields | {
        "selected_path": place.draw(long_path()),
        "external_id": place.draw(longest(EXTERNAL_ID)),
        "tags": place.draw(st.lists(longest(ItemName()), min_size=2, max_size=3, unique_by=str.casefold)),
        "forwards_query": [place.draw(long_text(200))],
        "password": place.draw(long_text(1_024)),
    }
    for tag in body["tags"]:
        await place.post("tags", {"name": tag})
    link = await place.link(**body)
    await hold_link(place.database, link.id, place.draw(longest(HOLD_REASON)), place.now)
    changed = {
        "expired_url": place.draw(longest(WebAddress())),
        "link_name": "Another",
        "rules": [rule] * 12,
        "custom_data": place.draw(large_object(JsonObject())),
    }
    answer = await place.client.patch(
        f"{API}/links/{link.id}", json=changed, headers=place.organization.headers
    )
    assert answer.status_code == 200, answer.text


async def write_idempotency(place: Place) -> None:
    """An answer of more pieces than a thousand, with characters that control terminals."""
    fields = place.draw(longest_of({**REQUIRED, **OPTIONAL}))
    link = await place.link(**fields)
    operations = [{"op": "archive", "id": link.id}] * 200
    await place.post(
        "links/bulk", {"operations": operations}, Idempotency_Key=place.draw(long_text(255, "aZ0-_"))
    )


async def write_tags(place: Place) -> None:
    made = await place.post("tags", {"name": place.draw(longest(ItemName()))})
    await place.link(tags=[made["name"]])


async def write_utm_templates(place: Place) -> None:
    utm = place.draw(longest_of({name: OPTIONAL[name] for name in UTM_FIELDS}))
    await place.post("utm-templates", {"name": place.draw(longest(ItemName()))} | utm)


async def write_qr_logos(place: Place) -> None:
    await set_logo(place.database, place.org_id, b"\x89PNG\r\n\x1a\n" + b"\xff" * _LARGEST_LOGO, place.now)


async def write_taken_clicks(place: Place) -> None:
    link = await place.link(max_clicks=10**9)
    assert (await take_clicks(place.database, place.org_id, link.id, requested=10**8, most=10**9)).remaining


async def write_purged_links(place: Place) -> None:
    link = await place.link(selected_path=place.draw(long_path()))
    answer = await place.client.delete(
        f"{API}/links/{link.id}?purge=true", headers=place.organization.headers
    )
    assert answer.status_code == 204


async def write_link_reports(place: Place) -> None:
    link = await place.link()
    for _ in range(MOST_KEPT + 1):
        report = LinkReport(ReportReason.SPAM, place.draw(longest(REPORT_TEXT)), place.now)
        await add_report(place.database, link, report)


async def write_broken_destinations(place: Place) -> None:
    """As many as a link's rules have variants, each with the longest address."""
    link = await place.link()
    url, problem = place.draw(longest(WebAddress())), place.draw(long_text(500))
    broken = [
        BrokenDestination(f"rules[{n}].then.destination_url", url, problem, place.now) for n in range(550)
    ]
    await keep_results(place.database, {link.id: (place.org_id, broken)}, place.now)


async def write_clicks(place: Place) -> None:
    """A whole block, and texts as long as blocks have them."""
    link, at = await place.link(), place.now - timedelta(days=1)
    texts = {name: place.draw(long_text(LONGEST_TEXT)) for name in ("system", "browser", "referrer_host")}
    clicks = [click(place.org_id, link.id, at + timedelta(seconds=n), **texts) for n in range(MOST_CLICKS)]
    await ship(place.database, clicks)


async def write_click_summaries(place: Place) -> None:
    link, old = await place.link(), place.now - timedelta(days=500)
    text = place.draw(long_text(LONGEST_TEXT))
    clicks = [
        click(
            place.org_id, link.id, old, reason="crawler", visitor=n, referrer_host=f"{n}{text}"[:LONGEST_TEXT]
        )
        for n in range(MANY)
    ]
    await ship(place.database, clicks)
    assert await sum_expired(place.database, place.org_id, place.now) == MANY


async def write_statements(place: Place) -> None:
    await write_clicks(place)
    await place_all(place.database, place.org_id)
    await sign_days(place.database, place.org_id, place.now.date() + timedelta(days=1))
