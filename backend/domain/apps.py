"""Mobile apps that open the links of a domain."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEAM_ID = re.compile(r"[A-Z0-9]{10}")
_BUNDLE_ID = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_STORE_ID = re.compile(r"[0-9]{1,15}")
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+")
_FINGERPRINT = re.compile(r"([0-9A-F]{2}:){31}[0-9A-F]{2}")


class InvalidApp(ValueError):
    """An app's identifier breaks its rule; the message names the identifier and the rule."""


@dataclass(frozen=True, slots=True)
class IosApp:
    """An iOS app: its Universal Links need team and bundle id, its App Store page the store id."""

    team_id: str
    bundle_id: str
    app_store_id: str | None = None

    def __post_init__(self) -> None:
        _check("iOS team id", self.team_id, _TEAM_ID, "10 capital letters and digits, such as A1B2C3D4E5")
        _check("iOS bundle id", self.bundle_id, _BUNDLE_ID, "letters, digits, hyphens and dots: com.shop.app")
        if self.app_store_id is not None:
            _check("App Store id", self.app_store_id, _STORE_ID, "digits, such as 1234567890")

    @property
    def app_id(self) -> str:
        """The application identifier that association files name."""
        return f"{self.team_id}.{self.bundle_id}"

    @property
    def store_url(self) -> str | None:
        """The app's page in the App Store, if its id is known."""
        return f"https://apps.apple.com/app/id{self.app_store_id}" if self.app_store_id else None


@dataclass(frozen=True, slots=True)
class AndroidApp:
    """An Android app: its package, and SHA-256 fingerprints of the certificates it is signed with."""

    package: str
    fingerprints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check("Android package", self.package, _PACKAGE, "names separated by dots, such as com.shop.app")
        for each in self.fingerprints:
            _check(
                "Certificate fingerprint", each, _FINGERPRINT, "SHA-256: 32 pairs of hex digits, with colons"
            )


@dataclass(frozen=True, slots=True)
class Apps:
    """The apps of one link domain; a domain without apps has `Apps()`."""

    ios: IosApp | None = None
    android: AndroidApp | None = None


def _check(name: str, value: str, rule: re.Pattern[str], words: str) -> None:
    if not rule.fullmatch(value):
        raise InvalidApp(f"{name} {value!r} must be {words}.")
