"""Builds the HTTP answer for each outcome of `domain.destination.decide`."""

from __future__ import annotations

from functools import lru_cache

from backend.domain.accounts.apps import AndroidApp, IosApp
from backend.domain.links.destinations.app_addresses import (
    fallback_address,
    fallback_link,
    intent_address,
    scheme_address,
    short_url_with_query,
)
from backend.domain.links.destinations.compiled_rules import Target
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.destinations.web_address import web_address
from backend.domain.taps.app_page import buttons_of
from backend.domain.taps.in_app_browsers import InAppBrowsers
from backend.domain.web.client import Client, Platform
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer, redirect
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.request.visit import Visit
from backend.web.proxies import TrustedProxies

_BY_INTENT = {Outcome.INTENT, Outcome.APP_PAGE}
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
        return _web_redirect(visit, entry, client)
    if outcome is Outcome.APP_STORE and apps.ios and apps.ios.store_url:
        return redirect(apps.ios.store_url.encode("ascii"))
    if outcome is Outcome.APP_PAGE and apps.ios and client.platform is Platform.IOS:
        return _mail_page(visit, entry, apps.ios, client, proxies, click_id=click_id)
    if outcome in _BY_INTENT and apps.android:
        intent = _intent(visit, entry, apps.android, client, proxies, click_id=click_id)
        if outcome is Outcome.INTENT:
            return redirect(intent.encode("ascii"))
        return pages.app_page(visit, entry.link, intent, web_address_of(visit, entry).decode())
    return _other_page(outcome, visit, entry, proxies)


def _other_page(outcome: Outcome, visit: Visit, entry: CachedLink, proxies: TrustedProxies) -> Answer:
    if outcome is Outcome.PREVIEW:
        return pages.preview(visit, entry.link, _address_in_preview(visit, entry, proxies))
    return pages.held(visit) if outcome is Outcome.HELD else pages.not_found(visit)


def _address_in_preview(visit: Visit, entry: CachedLink, proxies: TrustedProxies) -> str:
    """The destination; the short URL itself where programs must not get any further without a button."""
    if not entry.link.limits.click_to_continue:
        return _address_without_query(entry, entry).decode()
    scheme = proxies.visitor_scheme(visit.peer, visit.headers.get(b"x-forwarded-proto"))
    return short_url_with_query(entry.link, scheme, "")


def in_app_page(
    visit: Visit,
    entry: CachedLink,
    client: Client,
    proxies: TrustedProxies,
    in_app_browsers: InAppBrowsers,
    *,
    click_id: bytes | None,
) -> Answer:
    """The page by which a link leaves an in-app browser (`Outcome.APP_PAGE` there)."""
    escape = in_app_browsers.escape(visit.user_agent.decode("latin-1"), client.platform)
    scheme = proxies.visitor_scheme(visit.peer, visit.headers.get(b"x-forwarded-proto"))
    buttons = buttons_of(
        entry.link,
        entry.apps,
        client,
        escape,
        scheme,
        visit.query,
        click_id=click_id,
        web_query=visit.web_query,
    )
    return pages.in_app_page(visit, entry.link, buttons, web_address_of(visit, entry).decode())


def _mail_page(
    visit: Visit,
    entry: CachedLink,
    ios: IosApp,
    client: Client,
    proxies: TrustedProxies,
    *,
    click_id: bytes | None,
) -> Answer:
    """The page for who comes out of a mail. Its way to the store goes on with the same click, if that has an
    id: then the domain's page before the store comes, too."""
    link = entry.link
    fallback = fallback_address(link, client, visit.web_query)
    store = None if fallback else ios.store_url
    if store and click_id:
        scheme = proxies.visitor_scheme(visit.peer, visit.headers.get(b"x-forwarded-proto"))
        store = short_url_with_query(link, scheme, visit.query, click_id)
    app = scheme_address(link, ios, visit.query, click_id)
    return pages.mail_page(visit, link, app, store, fallback or web_address_of(visit, entry).decode())


def answer_by_rule(visit: Visit, entry: CachedLink, target: Target) -> Answer:
    """The answer for a visit that a rule of the link leads elsewhere."""
    return redirect(web_address_of(visit, entry, target), takes_click_id=target.link.adds_link_id)


def _web_redirect(visit: Visit, entry: CachedLink, client: Client) -> Answer:
    link = entry.link
    if link.fallbacks and (fallback := fallback_link(link, client)):
        address = web_address(fallback, visit.web_query).encode("ascii")
        return redirect(address, takes_click_id=fallback.adds_link_id)
    return redirect(web_address_of(visit, entry), takes_click_id=link.adds_link_id)


def web_address_of(visit: Visit, entry: CachedLink, target: Target | None = None) -> bytes:
    """The web address to which the link or its rule leads this visit, without the id of a click."""
    place = target or entry
    if visit.passed is not None:  # this link is as this visitor follows it
        return web_address(place.link, visit.passed, place.variant).encode("ascii")
    return (
        web_address(place.link, visit.query, place.variant).encode("ascii")
        if visit.query
        else _address_without_query(entry, place)
    )


def _address_without_query(entry: CachedLink, place: CachedLink | Target) -> bytes:
    """The web address of a click without a query string, of the link or of where its rule leads.

    Kept for the most used ones only: for all links it would need too much memory. It holds on to the links,
    also once the cache of links has none of them any more, so it is not kept for large ones.
    """
    return _kept_address(place) if entry.is_small else _address(place)


def _address(place: CachedLink | Target) -> bytes:
    return web_address(place.link, variant=place.variant).encode("ascii")


_kept_address = lru_cache(maxsize=2_000)(_address)


def _intent(
    visit: Visit,
    entry: CachedLink,
    app: AndroidApp,
    client: Client,
    proxies: TrustedProxies,
    *,
    click_id: bytes | None,
) -> str:
    """An address that opens the short URL, with its scheme in the visitor's browser, in the app."""
    scheme = proxies.visitor_scheme(visit.peer, visit.headers.get(b"x-forwarded-proto"))
    return intent_address(
        entry.link, app, client, scheme, visit.query, click_id=click_id, web_query=visit.web_query
    )
