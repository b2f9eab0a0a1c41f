"""The devices of the lab: systems, browsers, and places where a link can be tapped.

Each browser has a User-Agent that it sends, and the client that the redirector recognizes by it; a test
compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.taps.in_app_browsers import InAppBrowsers
from backend.domain.web.client import Client, ClientKind, Platform

_IN_APP, _BROWSER = ClientKind.IN_APP_BROWSER, ClientKind.BROWSER


class TapDevice(StrEnum):
    """Kinds of devices that treat a tap differently."""

    IOS = "ios"
    ANDROID_15 = "android_15"  # and newer, with Google's services: reads the rules for paths
    ANDROID_14 = "android_14"  # and older, or without Google's services: the app's manifest decides
    DESKTOP = "desktop"

    @property
    def platform(self) -> Platform:
        """What links call the device's system."""
        if self in {TapDevice.ANDROID_15, TapDevice.ANDROID_14}:
            return Platform.ANDROID
        return Platform.IOS if self is TapDevice.IOS else Platform.DESKTOP


class CachedFile(StrEnum):
    """The association file that the system has of the domain."""

    CURRENT = "current"  # as the domain answers it now
    BEFORE = "before"  # from before there was this link: phones keep a file for about a week
    NONE = "none"  # the domain had none when the app was installed, or it could not be read


@dataclass(frozen=True, slots=True)
class TapPlace:
    """Where a link is tapped, by its name: elsewhere than in an in-app browser the system is asked first.

    `client` is the browser that the link opens in if no app takes it. With `is_redirected`, the tapped
    address is another one that leads to the link by a redirect.
    """

    name: str
    client: Client
    user_agent: str
    is_redirected: bool = False

    @property
    def is_in_app(self) -> bool:
        """Whether an app opens the link in a browser of its own."""
        return self.client.kind is _IN_APP

    @property
    def asks_system(self) -> bool:
        """Whether the system may open an app, before a browser asks the service."""
        return not self.is_in_app and not self.is_redirected


_PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X)"
_PIXEL = "Mozilla/5.0 (Linux; Android 15; Pixel 9)"
_SAFARI = f"{_PHONE} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
_WEB_VIEW = f"{_PHONE} AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
_CHROME = f"{_PIXEL} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36"
_ANDROID_VIEW = (
    "Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP4A; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36"
)
_DESKTOP_CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/131.0.0.0 Safari/537.36"
)
_FIREFOX = "Mozilla/5.0 (Android 15; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0"
# Outside of in-app browsers: a message, a mail, a page of another site, a QR code.
MESSAGE, FIREFOX = "message", "message_firefox"
# A mail whose sender leads taps through a service that counts them. iOS asks no app behind a redirect.
NEWSLETTER = "newsletter"
_ON_IOS = Client(_BROWSER, Platform.IOS, "iOS", "Mobile Safari")
_OF_IOS = (
    TapPlace(MESSAGE, _ON_IOS, _SAFARI),
    TapPlace(NEWSLETTER, _ON_IOS, _SAFARI, is_redirected=True),
)
_OF_ANDROID = (
    TapPlace(
        MESSAGE,
        Client(_BROWSER, Platform.ANDROID, "Android", "Chrome Mobile", follows_intents=True),
        _CHROME,
    ),
    TapPlace(FIREFOX, Client(_BROWSER, Platform.ANDROID, "Android", "Firefox Mobile"), _FIREFOX),
)
_OF_DESKTOP = (
    TapPlace(
        MESSAGE,
        Client(_BROWSER, Platform.DESKTOP, "Windows", "Chrome", follows_intents=True),
        _DESKTOP_CHROME,
    ),
)
# What an app shows that has no name of its own.
WEB_VIEWS = {
    Platform.IOS: (Client(_IN_APP, Platform.IOS, "iOS", "Mobile Safari UI/WKWebView"), _WEB_VIEW),
    Platform.ANDROID: (Client(_IN_APP, Platform.ANDROID, "Android", "Chrome Mobile WebView"), _ANDROID_VIEW),
}
PLACES = {
    TapDevice.IOS: _OF_IOS,
    TapDevice.ANDROID_15: _OF_ANDROID,
    TapDevice.ANDROID_14: _OF_ANDROID,
    TapDevice.DESKTOP: _OF_DESKTOP,
}


@dataclass(frozen=True, slots=True)
class Situation:
    """A tap: on which device, where, and what the device has.

    `file` is None where the system is not asked.
    """

    device: TapDevice
    place: TapPlace
    has_app: bool
    file: CachedFile | None


def situations(in_app_browsers: InAppBrowsers) -> Iterator[Situation]:
    """Every combination that can differ. Where the file makes no difference, there is one with None."""
    for device, places in PLACES.items():
        for place in (*places, *_in_app_places(device, in_app_browsers)):
            if device is TapDevice.DESKTOP:
                yield Situation(device, place, has_app=False, file=None)
                continue
            for file in CachedFile if place.asks_system else (None,):
                yield Situation(device, place, has_app=True, file=file)
            yield Situation(device, place, has_app=False, file=None)


def _in_app_places(device: TapDevice, in_app_browsers: InAppBrowsers) -> Iterator[TapPlace]:
    """A place for each in-app browser of phones, with its part of the User-Agent behind a web view's."""
    if device is TapDevice.DESKTOP:
        return
    client, user_agent = WEB_VIEWS[device.platform]
    for browser in in_app_browsers.on(device.platform):
        yield TapPlace(browser.name, client, f"{user_agent} {browser.user_agent}".strip())
