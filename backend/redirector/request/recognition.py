"""Recognizes clients by their User-Agent, with the lists of ua-parser and crawlerdetect."""

from __future__ import annotations

import re
from functools import cache

from crawlerdetect import providers
from ua_parser import Domain, Parser
from ua_parser.loaders import load_lazy_builtins

from backend.concurrency.bounded_cache import remember
from backend.domain.web.client import Client, ClientKind, Platform

# Longer ones contain nothing more, and an attacker could fill the cache with them.
LONGEST_USER_AGENT = 512
_PLATFORMS = {"iOS": Platform.IOS, "Android": Platform.ANDROID}

# Families of ua-parser that are apps which show web pages in a view of their own.
_IN_APP_FAMILIES = frozenset(
    {"Facebook", "Instagram", "TikTok", "WeChat Browser", "LINE", "Snapchat", "Pinterest", "LinkedIn",
     "Twitter", "Facebook Messenger", "Messenger", "KakaoTalk"}
)  # fmt: skip
# A web view that ua-parser gives no app's name (LinkedIn, WeChat on Android, any other app).
_WEB_VIEW_FAMILIES = frozenset({"Mobile Safari UI/WKWebView", "Chrome Mobile WebView"})
# Browsers built on Chromium: they follow a redirect to intent:// after a tap on a link.
_FOLLOW_INTENTS = frozenset({"Chrome Mobile", "Chrome", "Samsung Internet", "Edge Mobile", "Opera Mobile"})

# In crawlerdetect's list, but counted: programs and libraries that do not say they crawl (decisions).
_HTTP_CLIENTS = (
    "curl", "wget", "httpie", "python-requests", "python-httpx", "python-urllib", "python/", "aiohttp",
    "okhttp", "go-http-client", "axios", "node-fetch", "undici", "got ", "java/", "apache-httpclient",
    "libwww", "guzzle", "postmanruntime", "dart/", "ruby", "http.rb", "reqwest", "powershell",
)  # fmt: skip
# Crawlers that fetch a page to show a preview of it, by what they call themselves.
_PREVIEW_FETCHERS = (
    "facebookexternalhit", "facebot", "twitterbot", "linkedinbot", "slackbot", "discordbot", "whatsapp",
    "telegrambot", "skypeuripreview", "pinterestbot", "redditbot", "vkshare", "viber", "iframely", "embedly",
    "mastodon", "bluesky cardyb", "snap url preview", "kakaotalk-scrap", "line-poker", "microsoftpreview",
)  # fmt: skip


def in_lower_case(pattern: str) -> str:
    """The pattern that finds in lower case what this one finds when it ignores case, but faster.

    `re` skips an alternative by its first letter only if the pattern does not ignore case. The list
    has over a thousand alternatives.
    """
    return re.sub(r"\\.|[A-Z]+", lambda match: match[0] if match[0][0] == "\\" else match[0].lower(), pattern)


# The package's lists are used directly: its class CrawlerDetect returns only one of the names in a text.
_CRAWLERS = re.compile("|".join(map(in_lower_case, providers.crawlers.data)))
_NO_CRAWLERS = re.compile("|".join(providers.exclusions.data), re.IGNORECASE)
# The time of some patterns grows with the square of a word's length, and no name is this long.
_LONG_WORD = re.compile(r"([\w-]{40})[\w-]+([\w-]{40})")


@remember(most_bytes=4_000_000, longest_key=LONGEST_USER_AGENT)
def recognize(user_agent: bytes) -> Client:
    """The client that this User-Agent header describes. Pass at most LONGEST_USER_AGENT bytes."""
    # Chromium without a window is on the list of crawlers, but does not say that it crawls.
    text = user_agent.decode("latin-1").replace("HeadlessChrome/", "Chrome/")
    parsed = _parser()(text, Domain.USER_AGENT | Domain.OS)
    system = parsed.os.family if parsed.os else None
    browser = parsed.user_agent.family if parsed.user_agent else None
    return Client(
        kind=_kind(text, browser),
        platform=_PLATFORMS.get(system or "", Platform.DESKTOP),
        system=system,
        browser=browser,
        follows_intents=browser in _FOLLOW_INTENTS,
    )


@cache
def _parser() -> Parser:
    """ua-parser without its list of devices, which is its longest one and is not needed here."""
    user_agents, systems, _ = load_lazy_builtins()
    return Parser.from_matchers((user_agents, systems, []))


def _kind(text: str, browser: str | None) -> ClientKind:
    lowered = text.lower()
    # Some apps name their own browser and their preview fetcher alike.
    is_in_app = browser in _IN_APP_FAMILIES or browser in _WEB_VIEW_FAMILIES
    if any(name in lowered for name in _PREVIEW_FETCHERS) and not is_in_app:
        return ClientKind.PREVIEW_FETCHER
    names = _listed_names(text)
    if not all(name.startswith(_HTTP_CLIENTS) for name in names):
        return ClientKind.CRAWLER
    if is_in_app:
        return ClientKind.IN_APP_BROWSER
    return ClientKind.HTTP_CLIENT if names else ClientKind.BROWSER


def _listed_names(text: str) -> list[str]:
    """All names in the text that are in the list of crawlers, in lower case."""
    shortened = _LONG_WORD.sub(r"\1\2", text)
    # In Latin-1, each letter becomes exactly one letter in lower case, and `re` would match no other one.
    lowered = _NO_CRAWLERS.sub("", shortened.strip()).lower()
    return [match[0] for match in _CRAWLERS.finditer(lowered)]
