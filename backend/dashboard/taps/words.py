"""Taps in the words of pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.taps.devices import FIREFOX, MESSAGE, NEWSLETTER, CachedFile, Situation, TapDevice
from backend.domain.taps.tap import Effect, Tap, merged

DEVICES = {
    TapDevice.IOS: "iPhone, iPad",
    TapDevice.ANDROID_15: "Android 15 and newer",
    TapDevice.ANDROID_14: "Android 14 and older",
    TapDevice.DESKTOP: "Desktop",
}
PLACES = {
    MESSAGE: "A message, a mail or a page",
    FIREFOX: "The same, with Firefox as the browser",
    NEWSLETTER: "A mail whose sender counts taps",
}
FILES = {
    CachedFile.CURRENT: "today’s file",
    CachedFile.BEFORE: "one from before the link",
    CachedFile.NONE: "no file",
    None: "any",
}
EFFECTS = {
    Effect.APP: "opens the app",
    Effect.APP_BY_REDIRECT: "opens the app, by a redirect",
    Effect.APP_PAGE: "shows a page with a button",
    Effect.STORE_PAGE: "shows a page before the store",
    Effect.STORE: "opens the store",
    Effect.WEB: "opens the web page",
    Effect.PASSWORD: "asks for the password",
    Effect.CONTINUE_PAGE: "shows a page with a button to continue",
    Effect.ERROR_PAGE: "shows the error page",
    Effect.STOPPED_PAGE: "says that the link was stopped",
}


@dataclass(frozen=True, slots=True)
class TapRow:
    """Taps that do the same for the same reason, as a row of a table."""

    place: str
    app: str
    file: str
    effect: str
    is_app: bool
    address: str | None
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeviceRows:
    """The taps on one kind of device."""

    name: str
    rows: list[TapRow]


@dataclass(frozen=True, slots=True)
class ChangedTap:
    """What a tap does now and after a change."""

    device: str
    where: str
    before: str
    after: str


def by_device(taps: Iterable[Tap]) -> list[DeviceRows]:
    """The taps of each device, in order."""
    found: dict[TapDevice, list[TapRow]] = {}
    for group in merged(taps):
        found.setdefault(group[0].situation.device, []).append(_row(group))
    return [DeviceRows(DEVICES[device], rows) for device, rows in found.items()]


def changed_taps(changes: Iterable[tuple[Tap, Tap]]) -> list[ChangedTap]:
    """Changes of taps in words, without those that differ only in the file that a phone still has."""
    groups: dict[object, list[tuple[Tap, Tap]]] = {}
    for old, new in changes:
        at = new.situation
        if at.file in {CachedFile.CURRENT, None}:
            place = None if at.place.is_in_app else (at.place, at.has_app)
            groups.setdefault((at.device, place, old.effect, new.effect), []).append((old, new))
    return [
        ChangedTap(
            DEVICES[group[0][1].situation.device],
            _where([new.situation for _, new in group]),
            EFFECTS[group[0][0].effect],
            EFFECTS[group[0][1].effect],
        )
        for group in groups.values()
    ]


def _row(taps: Sequence[Tap]) -> TapRow:
    """The row of taps that do the same in one place."""
    tap = taps[0]
    apps = {"installed" if tap.situation.has_app else "not installed": None for tap in taps}
    files = {FILES[tap.situation.file]: None for tap in taps}
    is_asked = tap.situation.device is not TapDevice.DESKTOP
    return TapRow(
        _places([tap.situation for tap in taps]),
        ("installed or not" if len(apps) > 1 else next(iter(apps))) if is_asked else "none",
        " or ".join(files),
        EFFECTS[tap.effect],
        tap.effect.is_app,
        tap.address,
        tap.why,
    )


def _where(situations: Sequence[Situation]) -> str:
    at, places = situations[0], _places(situations)
    if at.device is TapDevice.DESKTOP or at.place.is_in_app:
        return places
    return f"{places}; the app is {'installed' if at.has_app else 'not installed'}"


def _places(situations: Sequence[Situation]) -> str:
    at = situations[0]
    if not at.place.is_in_app:
        return PLACES[at.place.name]
    return f"In {', '.join(dict.fromkeys(situation.place.name for situation in situations))}"
