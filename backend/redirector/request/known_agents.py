"""What is known of User-Agents: lists that others keep, and a file of our own beside them.

`ua-parser` names browsers and systems; `crawlerdetect` and `crawler-user-agents` name robots. The file adds
what these do not say, and takes out what they take for robots though people use it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from crawlerdetect import providers
from crawleruseragents import CRAWLER_USER_AGENTS_DATA
from ua_parser.loaders import load_lazy_builtins

from backend.domain.web.client import Platform
from backend.redirector.request.patterns import PatternLists

_OWN = "static/user_agents.json"
_PREVIEWS = "social-preview"  # a tag of crawler-user-agents
# The main pattern of crawlerdetect: the words that most robots have in their names.
_MAIN = providers.crawlers.data[-1]
# What phones and people's apps have in their names, too. "" leaves a word out.
_ALSO_OF_PEOPLE = {"bot": "bot(?![a-rt-z])", "cron": "cron(?!et)", "reader": ""}
# Patterns of ua-parser by which robots get their names, and which take longer than all others together.
_NAMES_ROBOTS = re.compile(r"\[Bb\]ot|CrawlDaddy|Altresium|\[Ss\]pider|\[Ss\]\[Pp\]")
# What most browsers say: words of it tell none from another.
_COMMON = (
    "mozilla/5.0 (linux; u; android 10; k build/ap1a; wv) applewebkit/537.36 (khtml, like gecko) version/4.0 "
    "chrome/126.0.0.0 mobile safari/537.36 (windows nt 10.0; win64; x64; rv:127.0) gecko/20100101 firefox/1 "
    "(iphone; cpu iphone os 17_5 like mac os x) mobile/15e148 (macintosh; intel mac os x 10_15_7) (x11; "
    "linux x86_64) opera/9.80 mini"
)


@dataclass(frozen=True, slots=True)
class System:
    """A system that ua-parser does not name, or not in each of its forms."""

    name: str
    platform: Platform


class KnownAgents:
    """All lists, ready to be looked through, and what the patterns of some of them name, by their places."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """`own` is the content of the file. Raises ValueError if one of its patterns can't be looked for."""
        matchers: Any = load_lazy_builtins()  # of a class whose patterns its type does not name
        browsers, systems, _ = matchers
        browsers = [matcher for matcher in browsers if not _NAMES_ROBOTS.search(matcher.regex)]
        self.browser_names: list[str] = [matcher.family for matcher in browsers]
        self.system_names: list[str] = [matcher.family for matcher in systems]
        self.in_app_names: list[str] = [entry["name"] for entry in own["in_app_browsers"]]
        self.own_systems = _systems(own["systems"])
        self.disguised_systems = _systems(own["disguised_systems"])
        self.in_app_families = frozenset(own["in_app_families"])
        self.app_packages: Mapping[str, str] = own["app_packages"]
        as_written = {
            "browsers": [matcher.regex for matcher in browsers],
            "systems": [matcher.regex for matcher in systems],
            "in_app_browsers": _patterns(own["in_app_browsers"]),
            "own_systems": _patterns(own["systems"]),
            "disguised_systems": _patterns(own["disguised_systems"]),
            "without_play_store": _patterns(own["without_play_store"]),
        }
        self.lists = PatternLists(as_written | _looked_for_in_lower_case(own), _COMMON)
        # In what an app calls itself, only these words tell a robot: "reader" and the like name apps, too.
        self.robots_among_apps = re.compile("|".join(own["robots_among_apps"]))
        # Nor do their names tell that they fetch a preview: people use the apps of most who do.
        self.previews_among_apps = re.compile("|".join(own["previews_among_apps"]))
        self.http_clients = re.compile("|".join(own["http_clients"]))
        self.browser_packages = re.compile("|".join(own["browser_packages"]), re.IGNORECASE)


def packaged_known_agents() -> KnownAgents:
    """What is known with this version, and the versions of the lists that are installed."""
    own = files("backend.redirector.request").joinpath(_OWN).read_text(encoding="utf-8")
    return KnownAgents(json.loads(own))


def _looked_for_in_lower_case(own: Mapping[str, Any]) -> dict[str, list[str]]:
    """The lists in which big and small letters are alike."""
    previews, crawlers = _previews_and_crawlers(own)
    lists = {
        **{name: _patterns(own[name]) for name in ("signs", "names_alone", "people")},
        **{name: own[name] for name in ("apps", "browsers_on_ios", "players", "old_browsers")},
        "preview_fetchers": _robots(previews, own["not_robots"]),
        "crawlers": _robots(crawlers, own["not_robots"]),  # the longest list, so the last one
    }
    return {name: [*map(in_lower_case, patterns)] for name, patterns in lists.items()}


def _previews_and_crawlers(own: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The patterns of those who fetch previews, and of all other robots, of the kept lists and of our own."""
    tags = {entry["pattern"]: entry.get("tags", ()) for entry in CRAWLER_USER_AGENTS_DATA}
    not_previews = own["not_preview_fetchers"]
    previews = [pattern for pattern in tags if _PREVIEWS in tags[pattern] and pattern not in not_previews]
    crawlers = [pattern for pattern in tags if pattern not in previews]
    return (
        [*_patterns(own["preview_fetchers"]), *previews],
        [*_main_words(), *providers.crawlers.data, *crawlers, *_patterns(own["crawlers"])],
    )


def _systems(entries: Iterable[Mapping[str, str]]) -> list[System]:
    return [System(entry["system"], Platform(entry["platform"])) for entry in entries]


def _patterns(entries: Iterable[Mapping[str, str]]) -> list[str]:
    return [entry["pattern"] for entry in entries]


def _main_words() -> list[str]:
    """The words of the list's main pattern: apart, each is looked for only where it is."""
    inside = re.search(r"\((.+)\)", _MAIN)
    return [_ALSO_OF_PEOPLE.get(word, word) for word in inside[1].split("|")] if inside else []


def _robots(patterns: Iterable[str], not_robots: Sequence[str]) -> list[str]:
    """The patterns without those that people fit. A name begins where a word does, but for the main words."""
    main = _main_words()
    left_out = {_MAIN, *not_robots, ""}
    kept = [pattern for pattern in dict.fromkeys(patterns) if pattern not in left_out]
    return [pattern if pattern in main else _whole_word(pattern) for pattern in kept]


def _whole_word(pattern: str) -> str:
    return f"(?<![a-z])(?:{pattern})" if re.match(r"[A-Za-z(]", pattern) else pattern


def in_lower_case(pattern: str) -> str:
    """The pattern that finds in lower case what this one finds when it ignores case, but faster."""
    return re.sub(r"\\.|[A-Z]+", lambda match: match[0] if match[0][0] == "\\" else match[0].lower(), pattern)
