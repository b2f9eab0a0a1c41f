"""What the lab says of a tap: the phone's rules first, then the decision of the redirect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Behavior, Hold, Link
from backend.domain.taps.apple_file import apple_file_content, parse_apple_file
from backend.domain.taps.devices import FIREFOX, MESSAGE, NEWSLETTER, PLACES, WEB_VIEWS, CachedFile, TapDevice
from backend.domain.taps.lab import Lab
from backend.domain.taps.manifest import parse_manifest
from backend.domain.taps.path_rules import Listing, PathRules, all_but, only
from backend.domain.taps.tap import Effect, Tap, differences, merged, phones_that_fail
from backend.domain.web.short_urls import ShortUrlForm
from backend.redirector.request.recognition import recognize
from backend.storage.links.tap_lab import Known, open_plain_lab
from tests.domain.taps.test_matching import FINGERPRINT, manifest

NOW = datetime(2026, 5, 1, tzinfo=UTC)
IOS, ANDROID = IosApp("A1B2C3D4E5", "com.shop.app", "123"), AndroidApp("com.shop.app", (FINGERPRINT,))
LINK = Link(
    LinkId("5c3ae2ee-0b1f-4c3c-9b53-e4cb6f9f2f0d"),
    OrgId("org"),
    "go.shop.com",
    "spring",
    "https://shop.com/",
    "Spring",
    NOW,
    NOW,
)
APP_LINK = replace(LINK, ios_behavior=Behavior.APP, android_behavior=Behavior.APP)
CURRENT, BEFORE, NONE = CachedFile.CURRENT, CachedFile.BEFORE, CachedFile.NONE


def lab(link: Link, apps: Apps | None = None, **others: Any) -> Lab:
    known = Known(ShortUrlForm(), NOW, **others)
    return open_plain_lab(link, known, Apps(IOS, ANDROID) if apps is None else apps)


def effects(
    taps: Iterable[Tap], device: TapDevice, place: str, has_app: bool
) -> dict[CachedFile | None, Effect]:
    found = {}
    for tap in taps:
        at = tap.situation
        if (at.device, at.place.name, at.has_app) == (device, place, has_app):
            assert tap.why
            found[at.file] = tap.effect
    return found


def test_the_lab_has_the_clients_that_the_redirector_recognizes() -> None:
    """Each browser of the lab is what the redirector makes of its User-Agent."""
    for place in {place for places in PLACES.values() for place in places}:
        assert recognize(place.user_agent.encode()) == place.client
    for client, user_agent in WEB_VIEWS.values():
        assert recognize(user_agent.encode()) == client


def test_a_link_that_opens_the_app() -> None:
    """The app where the system has a file that leaves it the link; else the redirect's answer."""
    taps = [*lab(APP_LINK).taps()]
    app, store = Effect.APP, Effect.STORE
    assert effects(taps, TapDevice.IOS, MESSAGE, True) == {CURRENT: app, BEFORE: app, NONE: store}
    assert effects(taps, TapDevice.IOS, MESSAGE, False) == {None: store}
    for device in (TapDevice.ANDROID_15, TapDevice.ANDROID_14):
        by_intent = {CURRENT: app, BEFORE: app, NONE: Effect.APP_BY_REDIRECT}
        assert effects(taps, device, MESSAGE, True) == by_intent
        assert effects(taps, device, FIREFOX, True) == by_intent | {NONE: Effect.APP_PAGE}
        assert effects(taps, device, MESSAGE, False) == {None: store}
        assert effects(taps, device, "Instagram", True) == {None: Effect.WEB}
    assert effects(taps, TapDevice.DESKTOP, MESSAGE, False) == {None: Effect.WEB}
    assert phones_that_fail(taps, expects_app=True) == []
    assert len(phones_that_fail(taps, expects_app=False)) == 3


def test_a_link_that_stays_in_the_browser() -> None:
    """iOS and Android 15 keep it there once they have today's file. Older Androids open the app."""
    taps = [*lab(LINK).taps()]
    kept = {CURRENT: Effect.WEB, BEFORE: Effect.APP, NONE: Effect.WEB}
    assert effects(taps, TapDevice.IOS, MESSAGE, True) == kept
    assert effects(taps, TapDevice.ANDROID_15, MESSAGE, True) == kept
    assert effects(taps, TapDevice.ANDROID_14, MESSAGE, True)[CURRENT] is Effect.APP
    assert [tap.situation.device for tap in phones_that_fail(taps, expects_app=False)] == [
        TapDevice.ANDROID_14
    ]


def test_the_manifest_decides_what_android_may_open() -> None:
    """Without a filter for the link, neither the system nor intent:// opens the app."""
    other = parse_manifest(manifest('<data android:pathPrefix="/winter"/>'))
    unverified = parse_manifest(manifest("", verified="false"))
    assert (
        effects(lab(APP_LINK, filters=other).taps(), TapDevice.ANDROID_14, MESSAGE, True)[CURRENT]
        is Effect.STORE
    )
    found = effects(lab(APP_LINK, filters=unverified).taps(), TapDevice.ANDROID_14, MESSAGE, True)
    assert found[CURRENT] is Effect.APP_BY_REDIRECT


def test_a_link_that_the_full_file_left_out() -> None:
    """iOS sends those with the app to the store; on Android, intent:// still opens the app."""
    full = only(["other"])
    taps = [
        *replace(lab(APP_LINK), apple_files={CURRENT: parse_apple_file(apple_file_content(IOS, full))}).taps()
    ]
    assert effects(taps, TapDevice.IOS, MESSAGE, True)[CURRENT] is Effect.STORE


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        ({"is_enabled": False}, Effect.ERROR_PAGE),
        ({"hold": Hold(NOW, "spam")}, Effect.STOPPED_PAGE),
        ({"limits": LinkLimits(password_hash="x")}, Effect.PASSWORD),
        ({"limits": LinkLimits(starts_at=NOW + timedelta(days=1))}, Effect.ERROR_PAGE),
        ({"limits": LinkLimits(expires_at=NOW)}, Effect.ERROR_PAGE),
        ({"limits": LinkLimits(expires_at=NOW, expired_url="https://shop.com/late")}, Effect.WEB),
        ({"fallbacks": {"ios_fallback_url": "https://shop.com/phone"}}, Effect.WEB),
        (
            {"rules": [{"if": {"platform": ["ios"]}, "then": {"destination_url": "https://shop.com/r"}}]},
            Effect.WEB,
        ),
        ({}, Effect.STORE),
    ],
)
def test_what_the_service_answers(changes: dict[str, Any], effect: Effect) -> None:
    """An iPhone without the app gets what the redirect decides: limits, rules and fallbacks too."""
    taps = lab(replace(APP_LINK, **changes)).taps()
    assert effects(taps, TapDevice.IOS, MESSAGE, False) == {None: effect}


def test_a_change_before_it_is_saved() -> None:
    """Only what a tap does otherwise is a difference: here on phones, not on desktops."""
    before, after = [*lab(APP_LINK).taps()], [*lab(LINK).taps()]
    changed = {new.situation.device for _, new in differences(before, after)}
    assert changed == {TapDevice.IOS, TapDevice.ANDROID_15, TapDevice.ANDROID_14}
    assert differences(before, before) == []
    assert differences(before, [*lab(APP_LINK, Apps(IOS)).taps()])


def test_what_a_file_names_when_it_is_full() -> None:
    """Links of the browser first; where they don't fit those of the app, and then the newest of these."""
    few, many = [f"{number:06}" for number in range(3)], [f"{number:06}" for number in range(9000)]
    assert all_but(few) == PathRules(Listing.BROWSER_LINKS, tuple(few))
    assert all_but(many) is None
    assert only(few).listing is Listing.APP_LINKS
    some = only(many)
    assert (some.listing, some.paths) == (Listing.SOME_APP_LINKS, tuple(many[: len(some.paths)]))
    assert 125_000 < some.size < 126_000


def test_the_page_before_the_app_store() -> None:
    """Where the domain asks for it, iPhones without the app get it in the place of the App Store."""
    ios = replace(IOS, clipboard_page=True)
    before, after = [*lab(APP_LINK).taps()], [*lab(APP_LINK, Apps(ios, ANDROID)).taps()]
    changed = differences(before, after)
    assert {(old.effect, new.effect) for old, new in changed} == {(Effect.STORE, Effect.STORE_PAGE)}
    assert {new.situation.device for _, new in changed} == {TapDevice.IOS}
    assert {new.address for _, new in changed} == {ios.store_url}
    assert "copies a text" in changed[0][1].why[-1]
    assert phones_that_fail(after, expects_app=True) == []


def test_a_redirect_before_the_link() -> None:
    """iOS opens no app behind the redirect of a newsletter; the page for that is shown there alone."""
    before = [*lab(APP_LINK).taps()]
    [installed, missing] = [tap for tap in before if tap.situation.place.name == NEWSLETTER]
    assert (installed.situation.has_app, installed.effect, missing.effect) == (
        True,
        Effect.STORE,
        Effect.STORE,
    )
    assert "behind which iOS opens no app" in installed.why[0]
    ios = replace(IOS, custom_scheme="shopapp", mail_page=True)
    changed = differences(before, [*lab(APP_LINK, Apps(ios, ANDROID)).taps()])
    assert {new.situation.place.name for _, new in changed} == {NEWSLETTER}
    assert {(new.effect, new.address) for _, new in changed} == {
        (Effect.APP_PAGE, "shopapp://go.shop.com/spring")
    }
    assert {tap.effect for tap in lab(LINK).taps() if tap.situation.place.name == NEWSLETTER} == {Effect.WEB}


def test_the_page_for_in_app_browsers() -> None:
    """Where the domain asks for it: the app's own scheme, intent:// where it works, or the way out."""
    ios = replace(IOS, custom_scheme="shopapp")
    taps = [*lab(APP_LINK, Apps(ios, ANDROID, in_app_page=True)).taps()]
    found = {
        (tap.situation.device, tap.situation.place.name): tap for tap in taps if tap.situation.place.is_in_app
    }
    assert {tap.effect for tap in found.values()} == {Effect.APP_PAGE}
    assert found[TapDevice.IOS, "Instagram"].address == "shopapp://go.shop.com/spring"
    instagram = found[TapDevice.ANDROID_15, "Instagram"].address
    assert instagram == "instagram://extbrowser/?url=https%3A%2F%2Fgo.shop.com%2Fspring"
    facebook = found[TapDevice.ANDROID_15, "Facebook"].address or ""
    assert facebook.startswith("intent://go.shop.com/spring#Intent;scheme=https;package=com.shop.app;")
    assert found[TapDevice.ANDROID_15, "WeChat"].address is None
    assert "menu opens the browser" in found[TapDevice.ANDROID_15, "WeChat"].why[-1]
    kept = [*lab(LINK, Apps(ios, ANDROID, in_app_page=True)).taps()]
    assert {tap.effect for tap in kept if tap.situation.place.is_in_app} == {Effect.WEB}
    assert len(merged(kept)) < len(kept)
