"""Clients that ask for a link: the platform, the browser, and whether a person is behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Platform(StrEnum):
    """The platforms that links can treat differently.

    A tablet belongs to its system's platform; everything that is neither iOS nor Android counts as desktop.
    """

    IOS = "ios"
    ANDROID = "android"
    DESKTOP = "desktop"


PLATFORM_NAMES: Mapping[str, str] = {
    Platform.IOS: "iOS",
    Platform.ANDROID: "Android",
    Platform.DESKTOP: "Desktop",
}


class ClientKind(StrEnum):
    """The kinds of clients, by what they do with a link."""

    BROWSER = "browser"
    IN_APP_BROWSER = "in_app_browser"
    HTTP_CLIENT = "http_client"
    CRAWLER = "crawler"
    PREVIEW_FETCHER = "preview_fetcher"
    APP = "app"  # names the link that opened it, and never asks for one

    @property
    def is_automatic(self) -> bool:
        """Whether this kind of client is a program, not a person (decisions, "what counts as a click")."""
        return self in _AUTOMATIC


_AUTOMATIC = frozenset({ClientKind.CRAWLER, ClientKind.PREVIEW_FETCHER})


@dataclass(frozen=True, slots=True)
class Client:
    """A client, as its User-Agent describes it. `system` and `browser` are names to show; None: not known."""

    kind: ClientKind
    platform: Platform
    system: str | None = None
    browser: str | None = None
    follows_intents: bool = False  # a redirect to intent:// opens the app without another tap
    has_play_store: bool = True  # of Android; not so on Fire tablets and HarmonyOS
