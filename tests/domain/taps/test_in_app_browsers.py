"""The file of in-app browsers: what comes with the service, and one that an operator gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.taps.components import UnreadableFile
from backend.domain.taps.in_app_browsers import Escape, packaged_in_app_browsers, parse_in_app_browsers
from backend.domain.web.client import ClientKind, Platform
from backend.environment import load_settings
from backend.redirector.request.recognition import recognize
from backend.settings import InvalidSetting
from tests.redirector.user_agents import CLIENTS

URL = "https://go.shop.com/spring?a=1"


def test_the_file_that_comes_with_the_service() -> None:
    """Each User-Agent of an app finds that app; any other the last entry, which stands for all."""
    known = packaged_in_app_browsers()
    assert known.browsers[-1].user_agent == ""
    names = {browser.name.lower() for browser in known.browsers}
    for platform in (Platform.IOS, Platform.ANDROID):
        for description, user_agent in CLIENTS[ClientKind.IN_APP_BROWSER, platform].items():
            app = description.partition(" on ")[0].lower()
            found = known.of(user_agent)
            assert found
            assert found.name.lower() == (app if app in names else "any other app"), description
            assert recognize(user_agent.encode()).kind is ClientKind.IN_APP_BROWSER
    for browser in known.browsers:
        for escape in browser.escapes.values():
            assert escape.source.startswith("https://")
            assert escape.reported <= known.updated


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("x-safari-{url}", "x-safari-https://go.shop.com/spring?a=1"),
        ("app://x/?url={encoded_url}", "app://x/?url=https%3A%2F%2Fgo.shop.com%2Fspring%3Fa%3D1"),
        (
            "intent://{rest}#Intent;scheme=https;end",
            "intent://go.shop.com/spring?a=1#Intent;scheme=https;end",
        ),
        ("{url}{joint}out=1", "https://go.shop.com/spring?a=1&out=1"),
    ],
)
def test_addresses_of_escapes(template: str, address: str) -> None:
    """Placeholders stand for the short URL, for it in a query, for it without its scheme, and for ? or &."""
    assert Escape(template, "", "").address(URL) == address


def file_with(template: Any, **more: Any) -> dict[str, Any]:
    escape = {"escape": template, "reported": "2026-01-01", "source": "https://a.example/"}
    return {"updated": "2026-01-02", "browsers": [{"name": "A", "user_agent": "A", "ios": escape} | more]}


def test_a_file_of_the_operator(tmp_path: Path) -> None:
    """It takes the place of the service's."""
    path = tmp_path / "browsers.json"
    path.write_text(json.dumps(file_with("out://{rest}")))
    known = load_settings({"WAYLINK_IN_APP_BROWSERS": str(path)}).known_in_app_browsers
    [browser] = known.browsers
    assert browser.escapes[Platform.IOS].address(URL) == "out://go.shop.com/spring?a=1"
    assert known.of("something else") is None
    path.write_text("{")
    with pytest.raises(InvalidSetting, match=r"in_app_browsers\.json"):
        load_settings({"WAYLINK_IN_APP_BROWSERS": str(path)})


@pytest.mark.parametrize(
    "content",
    [[], {"browsers": []}, file_with("javascript:{url}"), file_with("javascript://{rest}"), file_with("app://"),
     file_with("go {url}"), file_with(5), file_with("app://{url}", name=None), file_with("data:{url}")],
)  # fmt: skip
def test_files_that_are_refused(content: Any) -> None:
    """Another form, an escape without the short URL, and one that would run as a script."""
    with pytest.raises(UnreadableFile):
        parse_in_app_browsers(content)
