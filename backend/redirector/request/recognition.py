"""Recognizes clients by what they call themselves: people's browsers, apps, programs, robots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from backend.concurrency.bounded_cache import remember
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.request.known_agents import packaged_known_agents

# Longer ones contain nothing more, and an attacker could fill the cache with them.
LONGEST_USER_AGENT = 512
_LONGEST_PACKAGE = 128
_PLATFORMS = {"iOS": Platform.IOS, "Android": Platform.ANDROID}
# Systems that name iOS or Android only to be taken for it.
_LIKE_OTHERS = frozenset({"Windows Phone", "Windows", "Tizen", "Chrome OS", "KaiOS", "Firefox OS"})
# Browsers built on Chromium: they follow a redirect to intent:// after a tap on a link.
_FOLLOW_INTENTS = frozenset({"Chrome Mobile", "Chrome", "Samsung Internet", "Edge Mobile", "Opera Mobile"})
_WEB_VIEW_ON_IOS = "Mobile Safari UI/WKWebView"
# An iPad that asks for desktop pages says that it is a Mac, and only its web views tell.
_IPAD_VIEW = re.compile(r"Macintosh.*Mobile/(?!.*Safari/)")
_BROWSER_WORDS = ("mozilla/", "applewebkit")
_WORD = re.compile(r"[\w.!-]+")
_NAME = re.compile("[a-z]{3}")
# The words for the device among what Android browsers say of themselves: phones are called Spider, or VR BOT.
_DEVICE = re.compile(
    r"(\((?:linux; )?(?:u; )?(?:arm\w*; )?android[^;)]*;(?: ?[a-z]{2}[-_][a-z]{2};)?)[^;)]*"
    r"|(\bandroid) \([^)]*\)"
)
_PACKAGE = re.compile(rb"[A-Za-z]\w*(?:\.\w+)+")
_KNOWN = packaged_known_agents()
_lists, _searches, _families = _KNOWN.lists, _KNOWN.searches, _KNOWN.families
_ROBOT_BITS, _OWN_SYSTEMS = _KNOWN.robot_bits, _lists.mask("own_systems")
_IN_APP, _NO_STORE = _lists.mask("in_app_browsers"), _lists.mask("without_play_store")


def recognize_new(user_agent: bytes) -> Client:
    """The client that this User-Agent header describes. Pass at most LONGEST_USER_AGENT bytes."""
    text = user_agent.decode("latin-1")
    lowered = text.lower()
    found = _lists.find(lowered)
    browser, system = _family("browsers", found, text), _family("systems", found, text)
    platform = _PLATFORMS.get(system or "", Platform.DESKTOP)
    if found & _OWN_SYSTEMS and platform is Platform.DESKTOP and system not in _LIKE_OTHERS:
        place = _first("own_systems", found, text)
        if place is not None:
            system, platform = _KNOWN.systems[place].name, _KNOWN.systems[place].platform
            if _IPAD_VIEW.search(text):
                browser = _WEB_VIEW_ON_IOS
    is_browser = any(word in lowered for word in _BROWSER_WORDS)
    # Of what an app asks with itself, the lists name the app, too.
    is_in_app = is_browser and browser in _KNOWN.in_app_families
    if found & _IN_APP and (place := _first("in_app_browsers", found, text)) is not None:
        browser, is_in_app = _KNOWN.in_app_names[place], True
    kind, robot = _kind(lowered, found, browser, is_browser=is_browser, is_in_app=is_in_app)
    if robot is not None:
        browser = _word_around(text, lowered.find(robot)) or browser
    return Client(
        kind=kind,
        platform=platform,
        system=system,
        browser=browser,
        follows_intents=browser in _FOLLOW_INTENTS,
        has_play_store=not (found & _NO_STORE) or _first("without_play_store", found, text) is None,
    )


recognize = remember(most_bytes=4_000_000, longest_key=LONGEST_USER_AGENT)(recognize_new)


def in_app(client: Client, requested_with: bytes) -> Client:
    """The client if Android's web view names the app around it (X-Requested-With)."""
    is_app = client.kind is ClientKind.BROWSER and client.platform is Platform.ANDROID
    return _in_app(client, requested_with) if is_app and len(requested_with) <= _LONGEST_PACKAGE else client


@lru_cache(maxsize=1024)
def _in_app(client: Client, requested_with: bytes) -> Client:
    if not _PACKAGE.fullmatch(requested_with):
        return client
    package = requested_with.decode("ascii")
    if _KNOWN.browser_packages.search(package):
        return client
    browser = _KNOWN.app_packages.get(package, client.browser)
    return replace(client, kind=ClientKind.IN_APP_BROWSER, browser=browser, follows_intents=False)


def _family(name: str, found: int, text: str) -> str | None:
    """The name that the first pattern of the list gives what it finds in the text."""
    searches = _searches[name]
    for place in _lists.places(found, name):
        if match := searches[place](text):
            family = _families[name][place]
            return family.replace("$1", match[1] or "") if "$1" in family else family
    return None


def _first(name: str, found: int, text: str) -> int | None:
    """The place of the first pattern of the list that is in the text."""
    searches = _searches[name]
    return next((place for place in _lists.places(found, name) if searches[place](text)), None)


def _kind(
    lowered: str, found: int, browser: str | None, *, is_browser: bool, is_in_app: bool
) -> tuple[ClientKind, str | None]:
    """What the client is, and the words that tell it if it is a robot."""
    is_app = not is_browser and _first("apps", found, lowered) is not None
    is_program = is_app
    if found & _ROBOT_BITS:
        robot, name = _robot(lowered, found, is_app=is_app, is_in_app=is_in_app)
        if robot.is_automatic:
            return robot, name
        is_program = is_program or robot is ClientKind.HTTP_CLIENT
    if is_in_app:
        return ClientKind.IN_APP_BROWSER, None
    if not is_browser:
        return _kind_of_program(lowered, found, is_known=is_program), None
    if browser is None and _first("names_alone", found, lowered) is not None:
        return ClientKind.CRAWLER, None
    return ClientKind.HTTP_CLIENT if is_program else ClientKind.BROWSER, None


def _robot(lowered: str, found: int, *, is_app: bool, is_in_app: bool) -> tuple[ClientKind, str | None]:
    """The kind of robot and the words that tell it; a program that counts, or a browser, if it is none."""
    kind = ClientKind.BROWSER
    named = _without_people(lowered, found)
    # Some apps name their own browser and their preview fetcher alike.
    if not is_in_app and (name := next(_names("preview_fetchers", found, named), None)) is not None:
        return ClientKind.PREVIEW_FETCHER, name
    for name in _names("crawlers", found, named):
        if _KNOWN.http_clients.match(name):
            kind = ClientKind.HTTP_CLIENT
        elif not (is_app or is_in_app) or _KNOWN.robots_among_apps.match(name):
            return ClientKind.CRAWLER, name
    if not is_app and _first("signs", found, named) is not None:
        return ClientKind.CRAWLER, None
    return kind, None


def _kind_of_program(lowered: str, found: int, *, is_known: bool) -> ClientKind:
    """What calls itself otherwise than browsers do: a program that says no more than a name is a robot."""
    if is_known or _KNOWN.http_clients.match(lowered) or _first("players", found, lowered) is not None:
        return ClientKind.HTTP_CLIENT
    if _NAME.search(lowered) is None or _first("old_browsers", found, lowered) is not None:
        return ClientKind.BROWSER
    return ClientKind.CRAWLER


def _without_people(lowered: str, found: int) -> str:
    """The text without the words that name people's devices and apps, and robots elsewhere."""
    named = _DEVICE.sub(r"\1\2 ", lowered) if "android" in lowered else lowered
    for place in _lists.places(found, "people"):
        named = _KNOWN.patterns["people"][place].sub(" ", named)
    return named


def _word_around(text: str, place: int) -> str | None:
    """The word of the text that has the letter at this place; None if there is no such place."""
    if place < 0:
        return None
    while place and _WORD.match(text, place - 1):
        place -= 1
    word = _WORD.match(text, place)
    return word[0] if word else None


def _names(name: str, found: int, text: str) -> Iterator[str]:
    """What the patterns of the list find in the text."""
    searches = _searches[name]
    for place in _lists.places(found, name):
        if match := searches[place](text):
            yield match[0]
