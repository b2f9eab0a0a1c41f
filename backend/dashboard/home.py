"""/: the start page."""

from __future__ import annotations

from dataclasses import dataclass

from quart import Response

from backend.current import resources
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.links.listing import rows_of
from backend.storage.api_keys import list_api_keys
from backend.storage.devices import first_and_last_arrival
from backend.storage.domains import list_domains
from backend.storage.links import count_links, list_links
from backend.storage.origins import list_origins

_NEWEST = 5


@dataclass(frozen=True, slots=True)
class Step:
    """Something that the organization has to set up, and the page where this is done."""

    words: str
    endpoint: str
    is_done: bool


@dashboard.get("/")
async def home() -> Response:
    """What the organization has set up, what is still missing, and its newest links."""
    database = resources().database
    newest = await list_links(database, org_id(), skip=0, limit=_NEWEST)
    return await page(
        "home.html",
        links=await count_links(database, org_id()),
        keys=sum(key.revoked_at is None for key in await list_api_keys(database, org_id())),
        domains=len(await list_domains(database, org_id())),
        steps=await _steps(has_links=bool(newest)),
        rows=await rows_of(newest),
    )


async def _steps(*, has_links: bool) -> list[Step]:
    database = resources().database
    return [
        Step("A domain for your short URLs", "domains", bool(await list_domains(database, org_id()))),
        Step("A first link", "links", has_links),
        Step("The sites that may use the SDK", "origins", bool(await list_origins(database, org_id()))),
        Step("The SDK on your site", "install", bool(await first_and_last_arrival(database, org_id()))),
    ]
