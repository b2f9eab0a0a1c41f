"""Decides what a visitor of a short URL gets, and to which addresses a link may lead. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from backend.domain.accounts.apps import Apps
from backend.domain.links.destinations.compiled_rules import Target
from backend.domain.links.links import Behavior, Link
from backend.domain.links.rules.rule_json import rule_targets
from backend.domain.web.client import Client, ClientKind, Platform

# To name a member of an enumeration takes Python 3.11 longer than to compare it.
_BROWSER, _PREVIEW_FETCHER = ClientKind.BROWSER, ClientKind.PREVIEW_FETCHER
_IOS, _ANDROID = Platform.IOS, Platform.ANDROID
_FALLBACKS = {
    Platform.DESKTOP: "desktop_url",
    Platform.IOS: "ios_fallback_url",
    Platform.ANDROID: "android_fallback_url",
}


class Outcome(StrEnum):
    """The possible answers to a request for a short URL, and what takes their place where nobody asked."""

    WEB = "web"  # 302 to the destination
    INTENT = "intent"  # 302 to intent://, which opens the Android app or the Play Store
    APP_STORE = "app_store"  # 302 to the App Store
    APP_PAGE = "app_page"  # 200, a page with a button that opens the app
    PREVIEW = "preview"  # 200, the social fields for link-preview fetchers
    NOT_FOUND = "not_found"  # 404, the error page
    HELD = "held"  # 403, the page that says that the link was stopped
    APP = "app"  # no answer: the system opened the app, which told of it


# What people call them.
OUTCOME_NAMES: Mapping[str, str] = {
    Outcome.WEB: "To the website",
    Outcome.INTENT: "To the Android app or its store",
    Outcome.APP_STORE: "To the App Store",
    Outcome.APP_PAGE: "Page that opens the app",
    Outcome.PREVIEW: "Link preview",
    Outcome.NOT_FOUND: "Error page",
    Outcome.HELD: "Page of a stopped link",
    Outcome.APP: "Opened the app at once",
}

_WEB = Outcome.WEB


def decide(link: Link | None, client: Client, apps: Apps, target: Target | None = None) -> Outcome:
    """The answer for this client, this link and the apps of the link's domain.

    `link` is None if there is no link at this host and path; `target` is where its rules lead this visitor,
    instead of its destination, its fallbacks and its app. Contract, "What the service does" and "States
    and transitions"; decisions, "Redirect".
    """
    if link is None or link.hold or not link.is_enabled:
        return Outcome.HELD if link and link.hold and not link.is_archived else Outcome.NOT_FOUND
    kind, platform = client.kind, client.platform
    if kind is _PREVIEW_FETCHER and link.social:
        return Outcome.PREVIEW
    if target or kind is not _BROWSER:
        return Outcome.APP_PAGE if _gets_in_app_page(link, client, apps, target) else _WEB
    if platform is _IOS:
        return _on_ios(link, apps)
    if platform is _ANDROID:
        return _on_android(link, client, apps)
    return _WEB


def _gets_in_app_page(link: Link, client: Client, apps: Apps, target: Target | None) -> bool:
    """Whether an in-app browser gets a page by which the link leaves it, as the domain's setting asks for."""
    if not apps.in_app_page or target or client.kind is not ClientKind.IN_APP_BROWSER:
        return False
    app = {_IOS: apps.ios, _ANDROID: apps.android}.get(client.platform)
    return app is not None and _opens_app(link, client.platform)


def _on_ios(link: Link, apps: Apps) -> Outcome:
    """The answer on iOS, if the app is not installed: otherwise iOS opens it without asking the service."""
    wants_store = _opens_app(link, Platform.IOS) and "ios_fallback_url" not in link.fallbacks
    return Outcome.APP_STORE if wants_store and apps.ios and apps.ios.store_url else Outcome.WEB


def is_on_ios_without_app(link: Link, client: Client) -> bool:
    """Whether it is a browser of iOS at a link that would open the app, if the system had been asked."""
    return client.kind is _BROWSER and client.platform is _IOS and _opens_app(link, _IOS)


def _on_android(link: Link, client: Client, apps: Apps) -> Outcome:
    if not _opens_app(link, Platform.ANDROID) or apps.android is None:
        return Outcome.WEB
    return Outcome.INTENT if client.follows_intents else Outcome.APP_PAGE


def fallback_url(link: Link, client: Client) -> str | None:
    """The web address that replaces the destination for this client; None if the link has none for it."""
    if client.kind is not ClientKind.BROWSER:
        return None
    return link.fallbacks.get(_FALLBACKS[client.platform]) if _uses_fallback(link, client.platform) else None


def _uses_fallback(link: Link, platform: Platform) -> bool:
    """Whether the platform's fallback is used: always on desktop, on a phone if the link opens the app."""
    return platform is Platform.DESKTOP or _opens_app(link, platform)


def leaves_to_app(link: Link, platform: Platform) -> bool:
    """Whether the association files leave the link to the app: not if it leads nowhere."""
    return link.is_enabled and not link.hold and _opens_app(link, platform)


def _opens_app(link: Link, platform: Platform) -> bool:
    """Whether the link opens the app on this system of phones. Links whose limits need the service don't."""
    behavior = link.ios_behavior if platform is Platform.IOS else link.android_behavior
    return behavior is Behavior.APP and not link.limits.stays_in_browser


def possible_targets(link: Link, platform: Platform, is_browser: bool) -> dict[str, str]:
    """All web addresses that the link may send this kind of client to, by the name of the link's field.

    A phone's fallback is included even while the link opens in the browser, since that setting may change; so
    is where visitors are sent once it has expired.
    """
    last = {"expired_url": link.limits.expired_url} if link.limits.expired_url else {}
    others = rule_targets(link.rules, platform) | last
    destination = {"destination_url": link.destination_url}
    name = _FALLBACKS[platform]
    if not is_browser or name not in link.fallbacks:
        return destination | others
    fallback = {name: link.fallbacks[name]}
    return (fallback if _uses_fallback(link, platform) else destination | fallback) | others
