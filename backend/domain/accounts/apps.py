"""Mobile apps that open the links of a domain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# The identifiers' names in error messages.
TEAM_ID = "iOS team id"
BUNDLE_ID = "iOS bundle id"
STORE_ID = "App Store id"
PACKAGE = "Android package"
FINGERPRINT = "Certificate fingerprint"
SCHEME = "Custom scheme"
CLIPBOARD_PAGE = "Page before the App Store"
MAIL_PAGE = "Page for visitors out of mails"

_TEAM_ID = re.compile(r"[A-Z0-9]{10}")
_BUNDLE_ID = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_STORE_ID = re.compile(r"[0-9]{1,15}")
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,49}")
# Schemes that browsers or systems have a meaning for.
_TAKEN_SCHEMES = frozenset(
    {"http", "https", "javascript", "data", "file", "blob", "about", "ftp", "mailto", "tel", "sms", "intent"}
)
_FINGERPRINT = re.compile(r"([0-9A-F]{2}:){31}[0-9A-F]{2}")


class InvalidApp(ValueError):
    """An app identifier is invalid. `identifier` names which one; the message states the rule."""

    def __init__(self, identifier: str, rule: str) -> None:
        super().__init__(f"{identifier} {rule}.")
        self.identifier = identifier
        self.rule = rule


@dataclass(frozen=True, slots=True)
class IosApp:
    """An iOS app. Universal Links need its team id and bundle id; its App Store page needs the store id.

    With `custom_scheme`, it also opens short URLs that have this scheme in the place of https. With
    `clipboard_page`, phones without the app get a page before the App Store, whose button copies a text for
    the first launch. With `mail_page`, who comes out of a mail gets a page whose buttons open the app, by its
    custom scheme, and the App Store.
    """

    team_id: str
    bundle_id: str
    app_store_id: str | None = None
    custom_scheme: str | None = None
    clipboard_page: bool = False
    mail_page: bool = False

    def __post_init__(self) -> None:
        _check(TEAM_ID, self.team_id, _TEAM_ID, "10 capital letters and digits, such as A1B2C3D4E5")
        _check(BUNDLE_ID, self.bundle_id, _BUNDLE_ID, "letters, digits, hyphens and dots: com.shop.app")
        if self.app_store_id is not None:
            _check(STORE_ID, self.app_store_id, _STORE_ID, "digits, such as 1234567890")
        if self.custom_scheme is not None:
            _check(SCHEME, self.custom_scheme, _SCHEME, "small letters and digits, such as shopapp")
            if self.custom_scheme in _TAKEN_SCHEMES:
                raise InvalidApp(SCHEME, f"{self.custom_scheme!r} is no app's own")
        if self.clipboard_page and self.app_store_id is None:
            raise InvalidApp(CLIPBOARD_PAGE, "needs the App Store id, since it leads there")
        if self.mail_page and self.custom_scheme is None:
            raise InvalidApp(MAIL_PAGE, "needs the custom scheme, by which its button opens the app")

    @property
    def app_id(self) -> str:
        """The app's id in an Apple association file: `<team id>.<bundle id>`."""
        return f"{self.team_id}.{self.bundle_id}"

    @property
    def store_url(self) -> str | None:
        """The URL of the app's App Store page; None if its store id is not set."""
        return f"https://apps.apple.com/app/id{self.app_store_id}" if self.app_store_id else None


@dataclass(frozen=True, slots=True)
class AndroidApp:
    """An Android app: its package name, and SHA-256 fingerprints of its signing certificates."""

    package: str
    fingerprints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(PACKAGE, self.package, _PACKAGE, "names separated by dots, such as com.shop.app")
        for fingerprint in self.fingerprints:
            _check(FINGERPRINT, fingerprint, _FINGERPRINT, "SHA-256: 32 pairs of hex digits, with colons")


@dataclass(frozen=True, slots=True)
class Apps:
    """The iOS and Android app of one link domain. `Apps()` means that the domain has no apps.

    With `in_app_page`, links that open the app show a page with a button in in-app browsers, which would else
    get the destination.
    """

    ios: IosApp | None = None
    android: AndroidApp | None = None
    in_app_page: bool = False

    @property
    def has_pages(self) -> bool:
        """Whether visitors may go on with one click from a page to the short URL."""
        return self.in_app_page or (self.ios is not None and self.ios.mail_page)


def parse_apps(
    *,
    team_id: str,
    bundle_id: str,
    app_store_id: str,
    package: str,
    fingerprints: Iterable[str],
    custom_scheme: str = "",
    in_app_page: bool = False,
    clipboard_page: bool = False,
    mail_page: bool = False,
) -> Apps:
    """Check these identifiers and return the apps they describe.

    Pass "" for an identifier that is not set. Raises InvalidApp.
    """
    ios = _ios(
        team_id, bundle_id, app_store_id, custom_scheme, clipboard_page=clipboard_page, mail_page=mail_page
    )
    android = _android(package, fingerprints)
    return Apps(ios, android, in_app_page and bool(ios or android))


def _ios(
    team_id: str,
    bundle_id: str,
    app_store_id: str,
    custom_scheme: str,
    *,
    clipboard_page: bool,
    mail_page: bool,
) -> IosApp | None:
    if not (team_id or bundle_id or app_store_id or custom_scheme or clipboard_page or mail_page):
        return None
    if not team_id:
        raise InvalidApp(TEAM_ID, "is needed for an iOS app")
    if not bundle_id:
        raise InvalidApp(BUNDLE_ID, "is needed for an iOS app")
    return IosApp(team_id, bundle_id, app_store_id or None, custom_scheme or None, clipboard_page, mail_page)


def _android(package: str, fingerprints: Iterable[str]) -> AndroidApp | None:
    signed = tuple(fingerprint.upper() for fingerprint in fingerprints)
    if package:
        return AndroidApp(package, signed)
    if signed:
        raise InvalidApp(PACKAGE, "is needed where a certificate's fingerprint is given")
    return None


def _check(name: str, value: str, rule: re.Pattern[str], words: str) -> None:
    if not rule.fullmatch(value):
        raise InvalidApp(name, f"{value!r} must be {words}")
