"""What taps do, and how they compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.taps.devices import MESSAGE, CachedFile, Situation


class Effect(StrEnum):
    """What a tap does."""

    APP = "app"  # the system opens the app with the link
    APP_BY_REDIRECT = "app_by_redirect"  # the browser asks the service, whose answer opens the app
    APP_PAGE = "app_page"  # a page with a button that opens the app, or the store
    STORE_PAGE = "store_page"  # a page with a button that copies a text and leads to the App Store
    STORE = "store"
    WEB = "web"
    PASSWORD = "password"  # noqa: S105 - a page that asks for the link's password
    CONTINUE_PAGE = "continue_page"  # a page with a button to continue, which takes one of the link's clicks
    ERROR_PAGE = "error_page"
    STOPPED_PAGE = "stopped_page"  # the page that says that the link was stopped

    @property
    def is_app(self) -> bool:
        """Whether the app opens, without another tap."""
        return self in {Effect.APP, Effect.APP_BY_REDIRECT}


@dataclass(frozen=True, slots=True)
class Tap:
    """What a tap does in a situation: where it leads, if that is an address, and why, in sentences."""

    situation: Situation
    effect: Effect
    address: str | None
    why: tuple[str, ...]


def phones_that_fail(taps: Sequence[Tap], *, expects_app: bool) -> list[Tap]:
    """The taps outside of in-app browsers, on phones with the app and today's file, that do otherwise than
    expected: open the app, or stay out of it."""
    return [
        tap
        for tap in taps
        if tap.situation.has_app
        and tap.situation.file is CachedFile.CURRENT
        and tap.situation.place.name == MESSAGE
        and tap.effect.is_app is not expects_app
    ]


def differences(before: Sequence[Tap], after: Sequence[Tap]) -> list[tuple[Tap, Tap]]:
    """The taps that lead elsewhere after a change, each with what it did before."""
    return [
        (old, new)
        for old, new in zip(before, after, strict=True)
        if (old.effect, old.address) != (new.effect, new.address)
    ]


def merged(taps: Iterable[Tap]) -> list[list[Tap]]:
    """The taps in groups that do the same for the same reason, on one device in one place, or in any in-app
    browsers."""
    groups: dict[object, list[Tap]] = {}
    for tap in taps:
        at = tap.situation
        place = None if at.place.is_in_app else at.place
        groups.setdefault((at.device, place, tap.effect, tap.address, tap.why), []).append(tap)
    return [*groups.values()]
