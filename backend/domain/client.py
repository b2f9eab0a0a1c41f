"""What asks for a link: the device's platform, the browser, and whether it is a person's at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Platform(StrEnum):
    """Where a link can be opened; a tablet is its system's platform, everything else counts as desktop."""

    IOS = "ios"
    ANDROID = "android"
    DESKTOP = "desktop"


class ClientKind(StrEnum):
    """How a client says that it treats a link."""

    BROWSER = "browser"
    IN_APP_BROWSER = "in_app_browser"
    HTTP_CLIENT = "http_client"
    CRAWLER = "crawler"
    PREVIEW_FETCHER = "preview_fetcher"

    @property
    def is_automatic(self) -> bool:
        """Whether the client says of itself that no person clicked (decisions, "what counts as a click")."""
        return self in {ClientKind.CRAWLER, ClientKind.PREVIEW_FETCHER}


@dataclass(frozen=True, slots=True)
class Client:
    """A client as its User-Agent describes it; `system` and `browser` are display names, or ""."""

    kind: ClientKind
    platform: Platform
    system: str = ""
    browser: str = ""
    follows_intents: bool = False  # a redirect to intent:// opens the app without another tap
