"""What a visitor gets: the decision's table of cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.compiled_rules import Target
from backend.domain.links.destinations.destination import Outcome, decide, fallback_url
from backend.domain.links.links import Behavior, Link
from backend.domain.web.client import Client, ClientKind, Platform

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BROWSER = Link(LinkId("7"), OrgId("org"), "go.example", "a", "https://a.example", "A", NOW, NOW)
APP = replace(BROWSER, ios_behavior=Behavior.APP, android_behavior=Behavior.APP)
SOCIAL = replace(BROWSER, social={"social_title": "A"})
NO_APPS = Apps()
FALLBACKS = {
    "ios_fallback_url": "https://ios.example",
    "android_fallback_url": "https://android.example",
    "desktop_url": "https://desktop.example",
}
APPS = Apps(IosApp("A1B2C3D4E5", "com.shop", "1"), AndroidApp("com.shop"))
NO_STORE = Apps(IosApp("A1B2C3D4E5", "com.shop"))
DESKTOP = Client(ClientKind.BROWSER, Platform.DESKTOP)
IOS = Client(ClientKind.BROWSER, Platform.IOS)
ANDROID = Client(ClientKind.BROWSER, Platform.ANDROID, follows_intents=True)
FIREFOX = Client(ClientKind.BROWSER, Platform.ANDROID)
IN_APP_IOS = Client(ClientKind.IN_APP_BROWSER, Platform.IOS)
IN_APP_ANDROID = Client(ClientKind.IN_APP_BROWSER, Platform.ANDROID, follows_intents=True)
CRAWLER = Client(ClientKind.CRAWLER, Platform.ANDROID, follows_intents=True)
PREVIEW = Client(ClientKind.PREVIEW_FETCHER, Platform.DESKTOP)


@pytest.mark.parametrize(
    ("link", "client", "apps", "outcome"),
    [
        (None, DESKTOP, APPS, Outcome.NOT_FOUND),
        (None, PREVIEW, APPS, Outcome.NOT_FOUND),
        (replace(APP, is_enabled=False), ANDROID, APPS, Outcome.NOT_FOUND),
        (replace(SOCIAL, is_enabled=False), PREVIEW, APPS, Outcome.NOT_FOUND),
        (APP, DESKTOP, APPS, Outcome.WEB),
        (BROWSER, IOS, APPS, Outcome.WEB),
        (APP, IOS, APPS, Outcome.APP_STORE),
        (APP, IOS, NO_APPS, Outcome.WEB),
        (replace(APP, fallbacks=FALLBACKS), IOS, APPS, Outcome.WEB),
        (replace(APP, fallbacks=FALLBACKS), ANDROID, APPS, Outcome.INTENT),
        (APP, IOS, NO_STORE, Outcome.WEB),
        (BROWSER, ANDROID, APPS, Outcome.WEB),
        (APP, ANDROID, APPS, Outcome.INTENT),
        (APP, FIREFOX, APPS, Outcome.APP_PAGE),
        (APP, ANDROID, NO_APPS, Outcome.WEB),
        (APP, FIREFOX, NO_STORE, Outcome.WEB),
        (APP, IN_APP_IOS, APPS, Outcome.WEB),
        (APP, IN_APP_ANDROID, APPS, Outcome.WEB),
        (SOCIAL, CRAWLER, APPS, Outcome.WEB),
        (APP, CRAWLER, APPS, Outcome.WEB),
        (SOCIAL, PREVIEW, NO_APPS, Outcome.PREVIEW),
        (BROWSER, PREVIEW, APPS, Outcome.WEB),
    ],
)
def test_the_decision(link: Link | None, client: Client, apps: Apps, outcome: Outcome) -> None:
    """Contract, "What the service does"; decisions, "Redirect"."""
    assert decide(link, client, apps) is outcome


@pytest.mark.parametrize(
    ("link", "client", "outcome"),
    [
        (APP, IOS, Outcome.WEB),
        (APP, ANDROID, Outcome.WEB),
        (replace(BROWSER, fallbacks=FALLBACKS), DESKTOP, Outcome.WEB),
        (SOCIAL, PREVIEW, Outcome.PREVIEW),
        (replace(APP, is_enabled=False), IOS, Outcome.NOT_FOUND),
    ],
)
def test_a_rule_decides_where(link: Link, client: Client, outcome: Outcome) -> None:
    """Where a rule leads is a web address, in place of app and store; previews and disabled links stay."""
    assert (
        decide(link, client, APPS, Target(0, replace(link, destination_url="https://b.example"))) is outcome
    )


@pytest.mark.parametrize(
    ("link", "client", "url"),
    [
        (APP, DESKTOP, "https://desktop.example"),
        (BROWSER, DESKTOP, "https://desktop.example"),
        (APP, IOS, "https://ios.example"),
        (APP, ANDROID, "https://android.example"),
        (BROWSER, IOS, None),
        (BROWSER, ANDROID, None),
        (APP, IN_APP_IOS, None),
        (APP, CRAWLER, None),
        (APP, PREVIEW, None),
    ],
)
def test_fallbacks(link: Link, client: Client, url: str | None) -> None:
    """A desktop goes to the link's own address for desktops, a phone to its own where the link wants the app;
    what opens no app, or is no person, gets the destination."""
    assert fallback_url(replace(link, fallbacks=FALLBACKS), client) == url
    assert fallback_url(link, client) is None
