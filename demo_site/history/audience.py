"""Who clicks on the links of the demo's history: countries, devices and referring pages of each channel."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import Generic, TypeVar

from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.web.client import ClientKind, Platform

ValueT = TypeVar("ValueT")


class Market(Enum):
    """The region in which an audience lives."""

    HOME = "dach"
    AMERICA = "us"
    WORLD = "world"


@dataclass(frozen=True, slots=True)
class Device:
    """A browser as the redirector recognizes it."""

    platform: Platform
    system: str
    browser: str
    kind: ClientKind = ClientKind.BROWSER


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who clicks, with the same properties all day."""

    device: Device
    country: str | None
    referrer: str | None
    visitor: int


_WINDOWS = Device(Platform.DESKTOP, "Windows", "Chrome")
_EDGE = Device(Platform.DESKTOP, "Windows", "Edge")
_MAC = Device(Platform.DESKTOP, "Mac OS X", "Safari")
_MAC_CHROME = Device(Platform.DESKTOP, "Mac OS X", "Chrome")
_LINUX = Device(Platform.DESKTOP, "Linux", "Firefox")
_FIREFOX = Device(Platform.DESKTOP, "Windows", "Firefox")
_IPHONE = Device(Platform.IOS, "iOS", "Mobile Safari")
_ANDROID = Device(Platform.ANDROID, "Android", "Chrome Mobile")
_SAMSUNG = Device(Platform.ANDROID, "Android", "Samsung Internet")


def _in_app(app: str, iphones: float) -> dict[Device, float]:
    """The two kinds of phones with the browser of an app. `iphones` is their share."""
    kind = ClientKind.IN_APP_BROWSER
    return {
        Device(Platform.IOS, "iOS", app, kind): iphones,
        Device(Platform.ANDROID, "Android", app, kind): 1 - iphones,
    }


_PHONES = {_IPHONE: 0.46, _ANDROID: 0.41, _SAMSUNG: 0.13}
_DESKTOPS = {_WINDOWS: 0.44, _EDGE: 0.16, _MAC: 0.17, _MAC_CHROME: 0.12, _FIREFOX: 0.08, _LINUX: 0.03}


def _mixed(*parts: tuple[float, Mapping[Device, float]]) -> dict[Device, float]:
    mixed: dict[Device, float] = {}
    for share, devices in parts:
        for device, weight in devices.items():
            mixed[device] = mixed.get(device, 0) + share * weight
    return mixed


class Channel(Enum):
    """A marketing channel, whose visitors have HABITS in common."""

    EMAIL = "email"
    FACEBOOK = "facebook"
    INSTAGRAM = "instagram"
    TIKTOK = "tiktok"
    SEARCH = "search"
    VIDEO = "video"
    WEB = "web"
    PARTNER = "partner"
    SCAN = "scan"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Habits:
    """The devices and referrers of a channel's visitors, and how often they click and buy.

    `fades` is the factor by which a link's clicks fall each day, `tail` the share of the first day's clicks
    that always stays, `weekend` the factor for weekends. `leads` and `sales` are shares of clicks.
    """

    devices: Mapping[Device, float]
    referrers: Mapping[str | None, float]
    fades: float = 1.0
    tail: float = 1.0
    weekend: float = 1.0
    leads: float = 0.025
    sales: float = 0.015


HABITS: Mapping[Channel, Habits] = {
    Channel.EMAIL: Habits(
        _mixed((0.55, _PHONES), (0.45, _DESKTOPS)),
        {None: 0.72, "mail.google.com": 0.1, "outlook.live.com": 0.08, "navigator-bs.gmx.net": 0.06,
         "web.de": 0.04},
        fades=0.3, tail=0.006, weekend=0.8, leads=0.012, sales=0.0245,
    ),
    Channel.FACEBOOK: Habits(
        _mixed((0.8, _in_app("Facebook", 0.42)), (0.2, _DESKTOPS)),
        {"m.facebook.com": 0.5, "l.facebook.com": 0.3, "lm.facebook.com": 0.1, None: 0.1},
        fades=0.985, tail=0.35, weekend=0.95, leads=0.018, sales=0.005,
    ),
    Channel.INSTAGRAM: Habits(
        _mixed((0.92, _in_app("Instagram", 0.58)), (0.08, _DESKTOPS)),
        {"l.instagram.com": 0.75, "instagram.com": 0.1, None: 0.15},
        fades=0.965, tail=0.2, weekend=0.9, leads=0.03, sales=0.0072,
    ),
    Channel.TIKTOK: Habits(
        _mixed((0.97, _in_app("TikTok", 0.5)), (0.03, _DESKTOPS)),
        {None: 0.8, "www.tiktok.com": 0.2},
        fades=0.93, tail=0.12, weekend=1.05, leads=0.022, sales=0.0029,
    ),
    Channel.SEARCH: Habits(
        _mixed((0.5, _PHONES), (0.5, _DESKTOPS)),
        {"www.google.com": 0.55, "www.google.de": 0.25, "www.bing.com": 0.1, None: 0.1},
        weekend=0.62, leads=0.02, sales=0.0259,
    ),
    Channel.VIDEO: Habits(
        _mixed((0.6, _PHONES), (0.4, _DESKTOPS)),
        {"www.youtube.com": 0.7, "m.youtube.com": 0.1, None: 0.2},
        fades=0.95, tail=0.18, weekend=1.1, leads=0.03, sales=0.0086,
    ),
    Channel.WEB: Habits(
        _mixed((0.55, _PHONES), (0.45, _DESKTOPS)),
        {"www.pinterest.com": 0.5, "www.linkedin.com": 0.15, "mastodon.social": 0.1, None: 0.25},
        leads=0.02, sales=0.0072,
    ),
    Channel.PARTNER: Habits(
        _mixed((0.45, _PHONES), (0.55, _DESKTOPS)),
        {"strandgut-magazin.example": 0.25, "kitereview.example": 0.35, "familienzeit.example": 0.15,
         "windfinder-blog.example": 0.15, None: 0.1},
        weekend=0.7, leads=0.03, sales=0.0216,
    ),
    Channel.SCAN: Habits(_PHONES, {None: 1.0}, weekend=2.4, leads=0.05, sales=0.0086),
    Channel.PHONE: Habits(_PHONES, {None: 0.9, "web.whatsapp.com": 0.1}, leads=0.01, sales=0.036),
}  # fmt: skip
_COUNTRIES: Mapping[Market, Mapping[str | None, float]] = {
    Market.HOME: {"DE": 0.7, "AT": 0.12, "CH": 0.09, "NL": 0.03, "DK": 0.02, "FR": 0.01, "PL": 0.01,
                  None: 0.02},
    Market.AMERICA: {"US": 0.84, "CA": 0.09, "MX": 0.03, "GB": 0.02, None: 0.02},
    Market.WORLD: {"DE": 0.3, "US": 0.22, "GB": 0.12, "FR": 0.08, "NL": 0.06, "IT": 0.05, "ES": 0.05,
                   "SE": 0.03, "BR": 0.03, "AU": 0.02, "JP": 0.02, None: 0.02},
}  # fmt: skip
ROBOTS: Sequence[Device] = (
    Device(Platform.DESKTOP, "Other", "Googlebot", ClientKind.CRAWLER),
    Device(Platform.DESKTOP, "Other", "bingbot", ClientKind.CRAWLER),
    Device(Platform.DESKTOP, "Other", "FacebookBot", ClientKind.PREVIEW_FETCHER),
    Device(Platform.DESKTOP, "Other", "WhatsApp", ClientKind.PREVIEW_FETCHER),
)


def somebody(drawn: random.Random, channel: Channel, market: Market) -> Person:
    """Draw a person of this audience."""
    devices, referrers = _CHANCES[channel]
    return Person(
        devices.draw(drawn),
        _COUNTRY_CHANCES[market].draw(drawn),
        referrers.draw(drawn),
        int(drawn.random() * HIGHEST_HASH),
    )


class _Chances(Generic[ValueT]):
    def __init__(self, weights: Mapping[ValueT, float]) -> None:
        self._values = list(weights)
        self._until = list(accumulate(weights.values()))

    def draw(self, drawn: random.Random) -> ValueT:
        return drawn.choices(self._values, cum_weights=self._until)[0]


_CHANCES = {
    channel: (_Chances(habits.devices), _Chances(habits.referrers)) for channel, habits in HABITS.items()
}
_COUNTRY_CHANCES = {market: _Chances(weights) for market, weights in _COUNTRIES.items()}
