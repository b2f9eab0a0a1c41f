"""What a tap on a link does, by the phones' published rules and by the decision that redirects make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from backend.domain.accounts.apps import AndroidApp, Apps
from backend.domain.links.destinations.app_addresses import (
    fallback_address,
    intent_address,
    scheme_address,
    store_address,
)
from backend.domain.links.destinations.by_mail import gets_page
from backend.domain.links.destinations.compiled_rules import CompiledRules
from backend.domain.links.destinations.destination import Outcome, decide
from backend.domain.links.destinations.web_address import encoded_address, web_address
from backend.domain.links.limits import Obstacle
from backend.domain.links.links import Link
from backend.domain.links.rules.conditions import Circumstances
from backend.domain.taps.app_page import buttons_of
from backend.domain.taps.apple_file import AppleFile
from backend.domain.taps.devices import CachedFile, Situation, TapDevice, TapPlace, situations
from backend.domain.taps.google_file import GoogleFile
from backend.domain.taps.in_app_browsers import InAppBrowsers, packaged_in_app_browsers
from backend.domain.taps.manifest import IntentFilter
from backend.domain.taps.systems import SystemAnswer, ask_android, ask_ios
from backend.domain.taps.tap import Effect, Tap
from backend.domain.web.client import Client

# What a tap does by the service's answer, where it leads, and why.
_Answer = tuple[Effect, str | None, str]
_REDIRECTED = "The mail’s sender leads the tap through a redirect, behind which iOS opens no app."
_MAIL_PAGE = "The service shows a page whose buttons open the app, by its own scheme, and the App Store."
_STORE_PAGE = "The service shows a page whose button copies a text for the app and leads to the App Store."


@dataclass(frozen=True, slots=True)
class Lab:
    """A link with all that decides what a tap on it does.

    The files are what phones have of the link's domain. `filters` are those of the Android app's manifest;
    None if it is not known, in which case it is taken to verify the whole domain. `is_blocked` says whether
    the operator blocks where the link leads. `tapped` is the address in a text, if it is not the short URL.
    """

    link: Link
    apps: Apps
    short_url: str
    now: datetime
    apple_files: Mapping[CachedFile, AppleFile] = field(default_factory=dict)
    google_files: Mapping[CachedFile, GoogleFile] = field(default_factory=dict)
    filters: Sequence[IntentFilter] | None = None
    is_blocked: bool = False
    tapped: str | None = None
    in_app_browsers: InAppBrowsers = field(default_factory=packaged_in_app_browsers)

    def taps(self) -> Iterator[Tap]:
        """What a tap does in every situation."""
        return map(self.tap, situations(self.in_app_browsers))

    def tap(self, situation: Situation) -> Tap:
        """What a tap does in this situation."""
        why: tuple[str, ...] = ()
        if situation.has_app and situation.place.asks_system:
            verdict = self._ask_system(situation)
            if verdict.opens:
                return Tap(situation, Effect.APP, self.short_url, verdict.why)
            why = verdict.why
        elif situation.place.is_redirected:
            why = (_REDIRECTED,)
        elif not situation.place.asks_system:
            why = (
                "The app in which the link is tapped opens it in its own browser; the system is not asked.",
            )
        elif situation.device is not TapDevice.DESKTOP:
            why = ("The app is not installed, so the link opens in the browser.",)
        effect, address, reason = self._visit(situation)
        return Tap(situation, effect, address, (*why, reason))

    def _ask_system(self, situation: Situation) -> SystemAnswer:
        file, tapped = situation.file or CachedFile.NONE, self.tapped or self.short_url
        if situation.device is TapDevice.IOS:
            return ask_ios(self.apps, self.apple_files.get(file), tapped)
        google_file = self.google_files.get(file)
        rules_count = situation.device is TapDevice.ANDROID_15
        return ask_android(self.apps, google_file, self.filters, tapped, rules_count=rules_count)

    def _visit(self, situation: Situation) -> _Answer:
        """What the service answers the browser, with the reason."""
        link, client = self.link, situation.place.client
        target = CompiledRules(link).target(Circumstances(client, self.now)) if link.rules else None
        outcome = decide(link, client, self.apps, target)
        if situation.place.is_redirected and gets_page(link, client, self.apps, target, outcome):
            outcome = Outcome.APP_PAGE
        if outcome is Outcome.NOT_FOUND:
            return Effect.ERROR_PAGE, None, "The link is disabled: visitors see the error page."
        if outcome is Outcome.HELD or self.is_blocked:
            return Effect.STOPPED_PAGE, None, "The operator of the service has stopped the link."
        if obstacle := link.limits.obstacle(self.now):
            return self._turned_away(obstacle)
        if target and outcome is Outcome.WEB:
            address = web_address(target.link, variant=target.variant)
            return Effect.WEB, address, f"Rule {target.number + 1} of the link leads there."
        return self._answer(outcome, client, situation)

    def _turned_away(self, obstacle: Obstacle) -> _Answer:
        if obstacle is Obstacle.PASSWORD:
            return Effect.PASSWORD, None, "The service asks for the link’s password first."
        if obstacle is Obstacle.CONTINUE:
            return Effect.CONTINUE_PAGE, None, "The service shows a page with a button to continue first."
        if obstacle is Obstacle.NOT_STARTED:
            return Effect.ERROR_PAGE, None, "The link has not started yet: visitors see the error page."
        if url := self.link.limits.expired_url:
            return (
                Effect.WEB,
                encoded_address(url),
                "The link has expired, and leads to its own page for that.",
            )
        return Effect.ERROR_PAGE, None, "The link has expired: visitors see the error page."

    def _answer(self, outcome: Outcome, client: Client, situation: Situation) -> _Answer:
        apps = self.apps
        if outcome is Outcome.APP_STORE and apps.ios:
            if apps.ios.clipboard_page:
                return Effect.STORE_PAGE, apps.ios.store_url, _STORE_PAGE
            return Effect.STORE, apps.ios.store_url, "The service redirects to the App Store."
        if outcome is Outcome.APP_PAGE:
            return self._app_page(situation.place)
        if outcome is Outcome.INTENT and apps.android:
            return self._intent(apps.android, client, has_app=situation.has_app)
        fallback = fallback_address(self.link, client, "")
        place = "fallback for this device" if fallback else "destination"
        return Effect.WEB, fallback or web_address(self.link), f"The service redirects to the link’s {place}."

    def _app_page(self, place: TapPlace) -> _Answer:
        if place.is_in_app:
            return self._in_app_page(place)
        if place.is_redirected and self.apps.ios:
            return Effect.APP_PAGE, scheme_address(self.link, self.apps.ios, ""), _MAIL_PAGE
        return Effect.APP_PAGE, None, "This browser opens apps only after a tap, so it gets a page."

    def _in_app_page(self, place: TapPlace) -> _Answer:
        """The page that in-app browsers get where the domain asks for it."""
        escape = self.in_app_browsers.escape(place.user_agent, place.client.platform)
        scheme = self.short_url.partition(":")[0]
        buttons = buttons_of(self.link, self.apps, place.client, escape, scheme, "")
        if escape is None:
            way = "No way out of this app is known, so the page says how its menu opens the browser."
        else:
            way = f"The page has a way out, which was last reported to work on {escape.reported}."
        return Effect.APP_PAGE, buttons.app or buttons.browser, way

    def _intent(self, app: AndroidApp, client: Client, *, has_app: bool) -> _Answer:
        """Where a redirect to intent:// leads, which asks no association file."""
        if has_app and self._is_taken_by_manifest():
            scheme = self.short_url.partition(":")[0]
            address = intent_address(self.link, app, client, scheme, "")
            return Effect.APP_BY_REDIRECT, address, "The service redirects to intent://: the app opens."
        missing = "The service redirects to intent://, which finds no app for the link, and leads to"
        if fallback := fallback_address(self.link, client, ""):
            return Effect.WEB, fallback, f"{missing} the link’s fallback."
        return Effect.STORE, store_address(self.link, app), f"{missing} the Play Store."

    def _is_taken_by_manifest(self) -> bool:
        return self.filters is None or any(
            intent_filter.matches(self.short_url) for intent_filter in self.filters
        )
