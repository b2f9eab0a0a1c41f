"""/install: how to add the browser SDK to a site, and whether its calls arrive."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from quart import Response, jsonify

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.domain.accounts.api_keys import KeyKind, hash_key, kind_of
from backend.domain.accounts.permissions import Permission
from backend.rate_limits.service_limits import (
    CALLS_OF_ADDRESS,
    CALLS_OF_KEY,
    INSTALLS_OF_ADDRESS,
    LINKS_OF_INSTALL,
    REST_OF_KEY,
)
from backend.storage.accounts.api_keys import create_api_key, find_active_key
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.origin_refusals import OriginRefusal, list_origin_refusals
from backend.storage.accounts.origins import is_allowed, list_origins
from backend.storage.accounts.rate_limited_requests import RateLimitedRequests, list_rate_limited
from backend.storage.visitors.devices import first_and_last_arrival
from backend.storage.visitors.rejections import list_rejections
from backend.web.current import resources
from backend.web.sdk_files import build, integrity, npm_archive
from backend.web.templates import render

# A refused origin is shown for so long after its last request.
_RECENT = timedelta(hours=1)
PLACEHOLDER = "c_web_…"
# The names of limits, as the owner reads them.
_LIMITS = {
    CALLS_OF_ADDRESS: "Calls or app opens from one address",
    CALLS_OF_KEY: "Calls or app opens with one key",
    INSTALLS_OF_ADDRESS: "New installs, or links of apps, from one address",
    LINKS_OF_INSTALL: "Links of one installation of an app",
    REST_OF_KEY: "REST requests with one key",
}


@dashboard.get("/install")
@needs(Permission.SETTINGS_READ)
async def install() -> Response:
    """The instructions, with a placeholder for the key: the service stores only hashes of keys."""
    return await _page(PLACEHOLDER)


@dashboard.post("/install")
@needs(Permission.SETTINGS_READ, Permission.KEYS_WRITE)
@once
async def install_with_key() -> Response:
    """The instructions with a key: the one from the form if it is the organization's, or a new one."""
    text = field("web_key")
    if not text:
        text, _ = await create_api_key(resources().database, org_id(), KeyKind.WEB, resources().clock())
        return await _page(text, is_new=True)
    problem = await _problem(text)
    return await _page(PLACEHOLDER if problem else text, typed_key=text, problem=problem)


@dashboard.get("/install/status")
@needs(Permission.SETTINGS_READ)
async def install_status() -> Response:
    """Whether calls have arrived, as JSON with a sentence. The page's script asks for it repeatedly."""
    return jsonify(await _arrival())


async def _problem(text: str) -> str:
    """Why this key must not be used in a site's pages; "" if it may."""
    if kind_of(text) is not KeyKind.WEB:
        return f"must be a Browser SDK key: it begins with {KeyKind.WEB.prefix}"
    key = await find_active_key(resources().database, hash_key(text), resources().clock())
    if key is None or key.org_id != org_id():
        return "is not one of this organization's keys, or was revoked"
    return ""


async def _page(web_key: str, *, typed_key: str = "", problem: str = "", is_new: bool = False) -> Response:
    base_url = resources().settings.base_url
    erases = (await get_organization(resources().database, org_id())).erases_on_withdrawal
    return await page(
        "site/install.html",
        422 if problem else 200,
        web_key=web_key,
        typed_key=typed_key,
        problem=problem,
        is_new=is_new,
        base_url=base_url,
        snippet=await render("dashboard/site/snippet.txt", base_url=base_url, web_key=web_key, erases=erases),
        pinned=_pinned(base_url),
        npm_address=f"{base_url}/{npm_archive()}",
        origins=await list_origins(resources().database, org_id()),
        arrival=await _arrival(),
        rejected=await list_rejections(resources().database, org_id()),
        rate_limited=await _rate_limited(),
    )


def _pinned(base_url: str) -> str:
    """The script tag with this build's own address and hash."""
    address = f"{base_url}/waylink-{build()}.js"
    return f'<script async src="{address}" integrity="{integrity()}" crossorigin="anonymous"></script>'


async def _rate_limited() -> list[tuple[str, RateLimitedRequests]]:
    """The requests that rate limits refused, each with the limit's name for the owner."""
    requests_by_limit = await list_rate_limited(resources().database, org_id())
    return [(_LIMITS.get(requests.limit, requests.limit), requests) for requests in requests_by_limit]


async def _arrival() -> dict[str, Any]:
    """The `state` (waiting, refused or arrived) with its `colour`, and a `sentence` that explains it.

    `is_over` says that nothing of it changes any more but times.
    """
    arrivals = await first_and_last_arrival(resources().database, org_id())
    if arrivals:
        first, last = map(_moment, arrivals)
        return {
            "state": "arrived",
            "colour": "good",
            "is_over": True,
            "sentence": f"Calls arrive. The first visitor came on {first}, the newest one on {last}.",
        }
    refused = await _recent_refusal()
    if refused:
        sentence = f"A call arrived, and was refused: {_why(refused)}."
        return {"state": "refused", "colour": "bad", "is_over": False, "sentence": sentence}
    sentence = "No call has arrived yet. Open your site in a browser."
    return {"state": "waiting", "colour": "", "is_over": False, "sentence": sentence}


async def _recent_refusal() -> OriginRefusal | None:
    """The latest refused request whose origin is still not allowed; None if there is none."""
    database, now = resources().database, resources().clock()
    for refusal in await list_origin_refusals(database, org_id()):
        if now - refusal.at < _RECENT and not await is_allowed(database, refusal.origin, org_id()):
            return refusal
    return None


def _why(refused: OriginRefusal) -> str:
    return f"{refused.origin} is not an allowed origin" if refused.origin else "it named no origin"


def _moment(at: datetime) -> str:
    return at.strftime("%-d %b %Y at %H:%M:%S UTC")
