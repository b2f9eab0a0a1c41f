"""Recognizes clients by what they call themselves: people's browsers, apps, programs, robots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from backend.concurrency.bounded_cache import remember
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.request.known_agents import System, packaged_known_agents
from backend.redirector.request.patterns import Patterns

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
_WORD = re.compile(r"[\w.!-]+")
_NAME = re.compile("[a-z]{3}")
# The words for the device among what Android browsers say of themselves: phones are called Spider, or VR BOT.
_DEVICE = re.compile(
    r"(\((?:linux; )?(?:u; )?(?:arm\w*; )?android[^;)]*;(?: ?[a-z]{2}(?:[-_][a-z]{2})?;)?)[^;)]*"
)
_DEVICE_OF_APP = re.compile(r"\b(android) \([^)]*\)")
_PACKAGE = re.compile(rb"[A-Za-z]\w*(?:\.\w+)+")
_KNOWN = packaged_known_agents()
_LISTS = _KNOWN.lists.by_name
_BROWSERS, _SYSTEMS, _IN_APP_BROWSERS = _LISTS["browsers"], _LISTS["systems"], _LISTS["in_app_browsers"]
_OWN_SYSTEMS, _DISGUISED_SYSTEMS = _LISTS["own_systems"], _LISTS["disguised_systems"]
_WITHOUT_PLAY_STORE = _LISTS["without_play_store"]
_ROBOTS = _LISTS["preview_fetchers"].mask | _LISTS["crawlers"].mask | _LISTS["signs"].mask
# Few clients differ, and one that is there already takes a tenth of the time to make it, and no memory.
_client = lru_cache(maxsize=4096)(Client)


def recognize_new(user_agent: bytes) -> Client:
    """The client that this User-Agent header describes. Pass at most LONGEST_USER_AGENT bytes."""
    text = user_agent.decode("latin-1")
    lowered = text.lower()
    found = _KNOWN.lists.find(lowered)
    browser = _family(_BROWSERS, _KNOWN.browser_names, found, text)
    system = _family(_SYSTEMS, _KNOWN.system_names, found, text)
    platform = _PLATFORMS.get(system or "", Platform.DESKTOP)
    if own := _own_system(system, platform, found, text):
        system, platform = own.name, own.platform
        browser = _WEB_VIEW_ON_IOS if _IPAD_VIEW.search(text) else browser
    is_browser = "mozilla/" in lowered or "applewebkit" in lowered
    # Of what an app asks with itself, the lists name the app, too.
    is_in_app = is_browser and (
        browser in _KNOWN.in_app_families or _is_view_on_ios(platform, lowered, found)
    )
    if in_app_browser := _IN_APP_BROWSERS.first(found, text):
        browser, is_in_app = _KNOWN.in_app_names[in_app_browser[0]], True
    kind, robot = _kind(lowered, found, browser, is_browser=is_browser, is_in_app=is_in_app)
    if robot is not None:
        browser = _word_around(text, lowered.find(robot)) or browser
    has_play_store = _WITHOUT_PLAY_STORE.first(found, text) is None
    return _client(kind, platform, system, browser, browser in _FOLLOW_INTENTS, has_play_store)


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


def _family(patterns: Patterns, names: Sequence[str], found: int, text: str) -> str | None:
    """The name that the first pattern of the list gives what it finds in the text."""
    first = patterns.first(found, text)
    if first is None:
        return None
    place, match = first
    return names[place].replace("$1", match[1] or "") if "$1" in names[place] else names[place]


def _own_system(named: str | None, platform: Platform, found: int, text: str) -> System | None:
    """The system that our own file knows, though the kept list has another name for it, or none."""
    if disguised := _DISGUISED_SYSTEMS.first(found, text):
        return _KNOWN.disguised_systems[disguised[0]]
    if platform is not Platform.DESKTOP or named in _LIKE_OTHERS:
        return None
    first = _OWN_SYSTEMS.first(found, text)
    return _KNOWN.own_systems[first[0]] if first else None


def _is_view_on_ios(platform: Platform, lowered: str, found: int) -> bool:
    """Whether it is an app's web view: on iOS, nearly all browsers say they are Safari, and views don't."""
    return (
        platform is Platform.IOS and "safari" not in lowered and not _is_in(lowered, found, "browsers_on_ios")
    )


def _kind(
    lowered: str, found: int, browser: str | None, *, is_browser: bool, is_in_app: bool
) -> tuple[ClientKind, str | None]:
    """What the client is, and the words that tell it if it is a robot."""
    is_app = not is_browser and _is_in(lowered, found, "apps")
    is_program = is_app
    if found & _ROBOTS:
        robot, name = _robot(lowered, found, is_app=is_app, is_in_app=is_in_app)
        if robot.is_automatic:
            return robot, name
        is_program = is_program or robot is ClientKind.HTTP_CLIENT
    if is_in_app:
        return ClientKind.IN_APP_BROWSER, None
    if not is_browser:
        return _kind_of_program(lowered, found, is_known=is_program), None
    if browser is None and _is_in(lowered, found, "names_alone"):
        return ClientKind.CRAWLER, None
    return ClientKind.HTTP_CLIENT if is_program else ClientKind.BROWSER, None


def _robot(lowered: str, found: int, *, is_app: bool, is_in_app: bool) -> tuple[ClientKind, str | None]:
    """The kind of robot and the words that tell it; a program that counts, or a browser, if it is none."""
    kind = ClientKind.BROWSER
    named = _without_people(lowered, found)
    # Some apps name their own browser and their preview fetcher alike.
    if not is_in_app and (preview_fetcher := _LISTS["preview_fetchers"].first(found, named)):
        name = preview_fetcher[1][0]
        if not is_app or _KNOWN.previews_among_apps.match(name):
            return ClientKind.PREVIEW_FETCHER, name
    for _, match in _LISTS["crawlers"].matches(found, named):
        name = match[0]
        if _KNOWN.http_clients.match(name):
            kind = ClientKind.HTTP_CLIENT
        elif not (is_app or is_in_app) or _KNOWN.robots_among_apps.match(name):
            return ClientKind.CRAWLER, name
    if not is_app and _is_in(named, found, "signs"):
        return ClientKind.CRAWLER, None
    return kind, None


def _kind_of_program(lowered: str, found: int, *, is_known: bool) -> ClientKind:
    """What calls itself otherwise than browsers do: a program that says no more than a name is a robot."""
    if is_known or _KNOWN.http_clients.match(lowered) or _is_in(lowered, found, "players"):
        return ClientKind.HTTP_CLIENT
    if _NAME.search(lowered) is None or _is_in(lowered, found, "old_browsers"):
        return ClientKind.BROWSER
    return ClientKind.CRAWLER


def _without_people(lowered: str, found: int) -> str:
    """The text without the words that name people's devices and apps, and robots elsewhere."""
    named = _DEVICE.sub(r"\1 ", lowered, count=1) if "android" in lowered else lowered
    named = _DEVICE_OF_APP.sub(r"\1 ", named) if "android (" in named else named
    return _LISTS["people"].blanked(found, named)


def _is_in(text: str, found: int, name: str) -> bool:
    """Whether a pattern of this list is in the text."""
    return _LISTS[name].first(found, text) is not None


def _word_around(text: str, place: int) -> str | None:
    """The word of the text that has the letter at this place; None if there is no such place."""
    if place < 0:
        return None
    while place and _WORD.match(text, place - 1):
        place -= 1
    word = _WORD.match(text, place)
    return word[0] if word else None
