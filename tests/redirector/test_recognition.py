"""What clients are taken for, by their User-Agent."""

from __future__ import annotations

import pytest

from backend.domain.client import ClientKind, Platform
from backend.redirector.recognition import LONGEST_USER_AGENT, recognize
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
