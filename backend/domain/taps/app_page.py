"""The page by which a link leaves an in-app browser: what its buttons lead to."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.accounts.apps import Apps
from backend.domain.links.destinations.app_addresses import (
    intent_address,
    scheme_address,
    short_url_with_query,
)
from backend.domain.links.links import Link
from backend.domain.taps.in_app_browsers import Escape
from backend.domain.web.client import Client, Platform


@dataclass(frozen=True, slots=True)
class PageButtons:
    """What opens the app, and what opens the short URL in a browser; None where no way is known."""

    app: str | None
    browser: str | None


def buttons_of(  # noqa: PLR0917 - what a redirect knows
    link: Link,
    apps: Apps,
    client: Client,
    escape: Escape | None,
    scheme: str,
    query: str,
    *,
    click_id: bytes | None = None,
    web_query: str | None = None,
) -> PageButtons:
    """The buttons for a client in an in-app browser, which followed the short URL with this query.

    `web_query` is the part of it that web addresses get; None: all.
    """
    browser = escape.address(short_url_with_query(link, scheme, query, click_id)) if escape else None
    if client.platform is Platform.IOS and apps.ios:
        return PageButtons(scheme_address(link, apps.ios, query, click_id), browser)
    if client.platform is Platform.ANDROID and apps.android and escape and escape.takes_intents:
        app = intent_address(
            link, apps.android, client, scheme, query, click_id=click_id, web_query=web_query
        )
        return PageButtons(app, browser)
    return PageButtons(None, browser)
