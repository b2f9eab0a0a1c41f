"""Builds the HTTP answer for each outcome of `domain.destination.decide`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from backend.domain.accounts.apps import AndroidApp
from backend.domain.links.destinations.destination import Outcome, fallback_url, intent_url, play_store_url
from backend.domain.links.destinations.web_address import LINK_ID_PARAMETER, query_with_click_id, web_address
from backend.domain.links.rules import Target
from backend.domain.web.client import Client
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer, redirect
from backend.redirector.links.cache import CachedLink
from backend.redirector.request.visit import Visit
from backend.web.proxies import TrustedProxies

_WEB = Outcome.WEB  # Python 3.11 takes longer to look it up than to compare it


def answer_for(
    outcome: Outcome,
    visit: Visit,
    entry: CachedLink,
    client: Client,
    proxies: TrustedProxies,
    *,
    click_id: bytes | None = None,
) -> Answer:
    """The answer for this outcome and this visit, where no rule of the link decides.

    With `click_id`, an app that is opened learns which click it was, so that its open is not counted again.
    """
    apps = entry.apps
    if outcome is _WEB:
        return redirect(_fallback(visit, entry, client) or _web(visit, entry))
    if outcome is Outcome.APP_STORE and apps.ios and apps.ios.store_url:
        return redirect(apps.ios.store_url.encode("ascii"))
    if outcome is Outcome.INTENT and apps.android:
        intent = _intent(visit, entry, apps.android, client, _scheme(visit, proxies), click_id=click_id)
        return redirect(intent.encode("ascii"))
    if outcome is Outcome.APP_PAGE and apps.android:
        intent = _intent(visit, entry, apps.android, client, _scheme(visit, proxies), click_id=click_id)
        return pages.app_page(visit, entry.link, intent, _web(visit, entry).decode())
    if outcome is Outcome.PREVIEW:
        return pages.preview(entry.link, _address_without_query(entry).decode())
    return pages.held(visit) if outcome is Outcome.HELD else pages.not_found(visit)


def answer_by_rule(visit: Visit, target: Target) -> Answer:
    """The answer for a visit that a rule of the link leads elsewhere."""
    return redirect(_web(visit, target))


def _web(visit: Visit, place: CachedLink | Target) -> bytes:
    return (
        web_address(place.link, visit.query, place.variant).encode("ascii")
        if visit.query
        else _address_without_query(place)
    )


@lru_cache(maxsize=2_000)
def _address_without_query(place: CachedLink | Target) -> bytes:
    """The web address of a click without a query string, of the link or of where a rule leads.

    Cached for the most used ones only: for all links it would need too much memory.
    """
    return web_address(place.link, variant=place.variant).encode("ascii")


def _fallback(visit: Visit, entry: CachedLink, client: Client) -> bytes | None:
    """The link's fallback address for this client, with the usual parameters; None if it has none."""
    url = fallback_url(entry.link, client) if entry.link.fallbacks else None
    return web_address(replace(entry.link, destination_url=url), visit.query).encode("ascii") if url else None


def _scheme(visit: Visit, proxies: TrustedProxies) -> str:
    """The scheme of the short URL in the visitor's browser. The app's intent filter must match it."""
    return proxies.visitor_scheme(visit.peer, visit.headers.get(b"x-forwarded-proto"))


def _intent(
    visit: Visit,
    entry: CachedLink,
    app: AndroidApp,
    client: Client,
    scheme: str,
    *,
    click_id: bytes | None,
) -> str:
    """An address that opens the short URL in the app.

    If the app is not installed, it leads to the link's fallback, or else to the Play Store, which passes the
    link's id on to the app.
    """
    query = query_with_click_id(visit.query, click_id)
    rest = f"{entry.link.domain}/{entry.link.path}" + (f"?{query}" if query else "")
    own = _fallback(visit, entry, client)
    missing = own.decode() if own else play_store_url(app, {LINK_ID_PARAMETER: entry.link.id})
    return intent_url(app, scheme, rest, missing)
