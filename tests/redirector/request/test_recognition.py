"""What clients are taken for, by their User-Agent."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest
from crawlerdetect import providers

from backend.domain.web.client import ClientKind, Platform
from backend.redirector.request.recognition import LONGEST_USER_AGENT, in_lower_case, recognize
from tests.redirector.user_agents import CLIENTS

CASES = [
    pytest.param(agent, kind, platform, id=f"{kind.value}: {name}")
    for (kind, platform), agents in CLIENTS.items()
    for name, agent in agents.items()
]
FOLLOW_INTENTS = {
    "Chrome on a phone",
    "Chrome on a tablet",
    "Samsung Internet",
    "Edge on Android",
    "Opera on Android",
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
    """Browsers built on Chromium do; Firefox and Silk get the page with the button."""
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


def test_the_list_finds_in_lower_case_what_it_finds_in_any() -> None:
    """Each pattern of the list of crawlers keeps its meaning, with its classes and escapes."""
    assert in_lower_case(r"\S+A\\BC[A-Z]\W") == r"\S+a\\bc[a-z]\W"
    anywhere = re.compile("|".join(providers.crawlers.data), re.IGNORECASE)
    lowered = re.compile("|".join(map(in_lower_case, providers.crawlers.data)))
    latin = "".join(map(chr, range(256)))
    for text in [
        *map(str.swapcase, AGENTS),
        *providers.crawlers.data[::20],
        latin,
        "Y!J-ABC Go 1\\Z",
    ]:
        found = [match[0].lower() for match in anywhere.finditer(text)]
        assert [match[0] for match in lowered.finditer(text.lower())] == found


def test_a_name_that_the_list_of_exceptions_splits() -> None:
    """`curl` is found around a word that the list of crawlers leaves out, and so is a crawler beside it."""
    with at_most(1, "a split name"):
        assert recognize(b"cuVersion/1rl").kind is ClientKind.HTTP_CLIENT
    assert recognize(b"cuVersion/1rl wget Googlebot/2.1").kind is ClientKind.CRAWLER
