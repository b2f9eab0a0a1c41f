"""What clients are taken for, by their User-Agent."""

from __future__ import annotations

import os
import signal
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from backend.domain.web.client import ClientKind, Platform
from backend.redirector.request.known_agents import in_lower_case, packaged_known_agents
from backend.redirector.request.patterns import PatternLists, needed_words
from backend.redirector.request.recognition import LONGEST_USER_AGENT, in_app, recognize
from tests.redirector.user_agents import CLIENTS

CASES = [
    pytest.param(agent, kind, platform, id=f"{kind.value}: {name}")
    for (kind, platform), agents in CLIENTS.items()
    for name, agent in agents.items()
]
PEOPLE = (ClientKind.BROWSER, ClientKind.IN_APP_BROWSER)
PIXEL = CLIENTS[ClientKind.BROWSER, Platform.ANDROID]["Chrome on a phone"]
FOLLOW_INTENTS = {
    "Chrome on a phone",
    "Chrome on a tablet",
    "Samsung Internet",
    "Edge on Android",
    "Opera on Android",
    "a phone named Spider",
    "a phone named VR BOT",
    "Samsung Internet that asks for desktop pages",
    "a television that reverses its words",
}


@pytest.mark.parametrize(("agent", "kind", "platform"), CASES)
def test_the_kind_and_platform_of_a_client(agent: str, kind: ClientKind, platform: Platform | None) -> None:
    """Browsers, in-app browsers, crawlers, preview fetchers and programs are told apart, tablets are their
    system's platform; which platform a crawler names does not matter."""
    client = recognize(agent.encode())
    assert client.kind is kind
    assert platform in {None, client.platform}


@pytest.mark.parametrize("name", CLIENTS[ClientKind.BROWSER, Platform.ANDROID])
def test_who_follows_a_redirect_to_an_app(name: str) -> None:
    """Browsers built on Chromium do; others get the page with the button."""
    agent = CLIENTS[ClientKind.BROWSER, Platform.ANDROID][name]
    assert recognize(agent.encode()).follows_intents is (name in FOLLOW_INTENTS)


@pytest.mark.parametrize("agent", [b"\xff\xfe\x00", b"(" * LONGEST_USER_AGENT, b"%s%n{}", b"  "])
def test_nonsense_is_a_browser_on_a_desktop(agent: bytes) -> None:
    """What nobody can read gets the redirect, as any browser does."""
    client = recognize(agent)
    assert (client.kind, client.platform) == (ClientKind.BROWSER, Platform.DESKTOP)


AGENTS = [agent for agents in CLIENTS.values() for agent in agents.values()]
WORDS = sorted({word for agent in AGENTS for word in agent.split()})


def mutations(agent: str, random: Random) -> Iterator[str]:
    """The agent with words of others put into it, and with a part of it repeated."""
    for _ in range(8):
        places = sorted(random.choices(range(len(agent) + 1), k=random.randint(1, 3)))
        parts = [agent[start:end] for start, end in pairwise([0, *places, len(agent)])]
        yield random.choice(WORDS).join(parts)
        yield parts[0] * random.randint(0, 40) + random.choice(WORDS) + parts[-1]


@contextmanager
def at_most(seconds: float, what: str) -> Iterator[None]:
    """Fail what keeps this process busy for longer, also where it would never end."""

    def too_long(*_: object) -> None:
        raise AssertionError(f"more than {seconds} seconds: {what}")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_no_user_agent_takes_long() -> None:
    """Whatever a client calls itself is recognized in milliseconds; a second means that it never ends."""
    seed = int.from_bytes(os.urandom(4))
    random = Random(seed)
    for agent in ["cuVersion/1rl", "a" * LONGEST_USER_AGENT, *AGENTS]:
        for mutation in mutations(agent, random):
            with at_most(1, f"{mutation!r} of seed {seed}"):
                recognize(mutation.encode("latin-1", "replace")[:LONGEST_USER_AGENT])


def test_what_a_pattern_needs() -> None:
    """Words of which one must be there for each part that has any; those that tell most come first."""
    assert needed_words(r"(Chrome|CriOS)/[\d.]+ (?:Mobile )?Safari", "chrome/ safari") == [
        {" safari", " mobile safari"},
        {"crios/", "chrome/"},
    ]
    assert needed_words(r"[A-Z]x?[bB]ot\b") == [{"bot", "xbot"}]
    assert in_lower_case(r"\S+A\\BC[A-Z]\W") == r"\S+a\\bc[a-z]\W"
    with pytest.raises(ValueError, match="needs no word"):
        PatternLists({"any": [r"\d+"]}, "")


def test_no_pattern_is_overlooked() -> None:
    """Whatever a pattern of a list is in, its words are found in first."""
    lists = packaged_known_agents().lists
    robots = [agent for entry in CRAWLER_USER_AGENTS_DATA for agent in entry.get("instances", ())]
    for agent in [*AGENTS, *map(str.swapcase, AGENTS[::5]), *robots[::60]]:
        found = lists.find(agent.lower())
        for name, patterns in lists.by_name.items():
            there, tried = ([place for place, _ in patterns.matches(bits, agent)] for bits in (-1, found))
            assert tried == there, (agent, name)


def test_robots_of_a_kept_list() -> None:
    """Of the examples of crawler-user-agents, hardly one is a person; plain programs count, as always."""
    kinds = {
        agent: recognize(agent.encode()[:LONGEST_USER_AGENT]).kind
        for entry in CRAWLER_USER_AGENTS_DATA
        for agent in entry.get("instances", ())
    }
    people = {agent for agent, kind in kinds.items() if kind in {*PEOPLE}}
    programs = {agent for agent, kind in kinds.items() if kind is ClientKind.HTTP_CLIENT}
    assert len(kinds) > 2_000
    assert len(people) < len(kinds) / 200, people
    assert len(people | programs) < len(kinds) / 29, programs


@pytest.mark.parametrize(
    ("package", "kind", "browser"),
    [
        (b"org.telegram.messenger", ClientKind.IN_APP_BROWSER, "Telegram"),
        (b"com.example.shop", ClientKind.IN_APP_BROWSER, "Chrome Mobile"),
        (b"XMLHttpRequest", ClientKind.BROWSER, "Chrome Mobile"),
        (b"com.duckduckgo.mobile.android", ClientKind.BROWSER, "Chrome Mobile"),
        (b"", ClientKind.BROWSER, "Chrome Mobile"),
        (b"a." * 100 + b"b", ClientKind.BROWSER, "Chrome Mobile"),
    ],
)
def test_an_app_around_a_web_view(package: bytes, kind: ClientKind, browser: str) -> None:
    """On Android, X-Requested-With names the app around a web view, unless that is a browser."""
    phone = in_app(recognize(PIXEL.encode()), package)
    assert (phone.kind, phone.browser, phone.follows_intents) == (kind, browser, kind is ClientKind.BROWSER)
    desktop = recognize(CLIENTS[ClientKind.BROWSER, Platform.DESKTOP]["Chrome on Windows"].encode())
    assert in_app(desktop, package) is desktop


def test_long_names_of_apps_are_not_kept() -> None:
    """Made-up headers can't fill the memory."""
    client = recognize(PIXEL.encode())
    tracemalloc.start()
    try:
        for number in range(500):
            assert in_app(client, b"%d" % number + b"a" * 8000) is client
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CLIENTS[ClientKind.BROWSER, Platform.ANDROID])
def test_who_has_the_play_store(name: str) -> None:
    """Android has it, but for Fire tablets and HarmonyOS."""
    agent = CLIENTS[ClientKind.BROWSER, Platform.ANDROID][name]
    assert recognize(agent.encode()).has_play_store is ("Fire tablet" not in name and "HarmonyOS" not in name)


def test_robots_have_names() -> None:
    """A robot is called by the word that tells it."""
    named = {
        "Googlebot": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "AhrefsBot": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
        "Mattermost-Bot": "Mattermost-Bot/1.1",
        "Discourse": "Discourse Forum Onebox v3.3.0.beta2",
    }
    assert {name: recognize(agent.encode()).browser for name, agent in named.items()} == {n: n for n in named}
