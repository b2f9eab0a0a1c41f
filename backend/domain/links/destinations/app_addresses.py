"""Addresses for phones: what a link leads to in the place of its destination, and what opens its app."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from backend.domain.accounts.apps import AndroidApp, IosApp
from backend.domain.links.destinations.destination import fallback_url
from backend.domain.links.destinations.web_address import (
    LINK_ID_PARAMETER,
    leading_to,
    query_with_click_id,
    web_address,
)
from backend.domain.links.links import Link
from backend.domain.web.client import Client

_SHORT_URL_CHARACTERS = "%:/?[]@!$&'()*+,;=-._~"


def fallback_address(link: Link, client: Client, query: str) -> str | None:
    """The link's fallback for this client, with the usual parameters; None if it has none. In ASCII."""
    fallback = fallback_link(link, client) if link.fallbacks else None
    return web_address(fallback, query) if fallback else None


def fallback_link(link: Link, client: Client) -> Link | None:
    """The link as it leads this client to its fallback; None if it has none."""
    url = fallback_url(link, client)
    return leading_to(link, url) if url else None


def intent_address(
    link: Link,
    app: AndroidApp,
    client: Client,
    scheme: str,
    query: str,
    *,
    click_id: bytes | None = None,
    web_query: str | None = None,
) -> str:
    """An address that opens the short URL, of this scheme and with this query, in the app.

    With `click_id`, the app learns which click it was, so that its open is not counted again. `web_query` is
    the part of the query that web addresses get; None: all.

    If the app is not installed, it leads where `address_without_app` says. The app's intent filter must match
    the scheme.
    """
    missing = address_without_app(link, app, client, query if web_query is None else web_query)
    return (
        f"{short_url_with_query(link, 'intent', query, click_id)}#Intent;scheme={scheme};"
        f"package={app.package};S.browser_fallback_url={quote(missing, safe='')};end"
    )


def address_without_app(link: Link, app: AndroidApp, client: Client, query: str) -> str:
    """Where a client on Android gets that lacks the app: the link's fallback, the Play Store, or the web."""
    in_browser = fallback_address(link, client, query)
    if in_browser or client.has_play_store:
        return in_browser or store_address(link, app)
    return web_address(link, query)


def store_address(link: Link, app: AndroidApp) -> str:
    """The app's page in the Play Store, which passes the referrer on to the app's first launch.

    The referrer has the link's id, and its UTM fields, by which the Play Console groups installs.
    """
    query = urlencode({"id": app.package, "referrer": urlencode({LINK_ID_PARAMETER: link.id, **link.utm})})
    return f"https://play.google.com/store/apps/details?{query}"


def scheme_address(link: Link, app: IosApp, query: str, click_id: bytes | None = None) -> str | None:
    """The short URL with the app's own scheme; None if it has none."""
    return short_url_with_query(link, app.custom_scheme, query, click_id) if app.custom_scheme else None


def short_url_with_query(link: Link, scheme: str, query: str, click_id: bytes | None = None) -> str:
    """The short URL with this scheme as the visitor followed it, in ASCII, with the id of the click."""
    whole_query = query_with_click_id(query, click_id)
    rest = f"{link.domain}/{link.path}" + (f"?{whole_query}" if whole_query else "")
    return f"{scheme}://{quote(rest, safe=_SHORT_URL_CHARACTERS)}"
