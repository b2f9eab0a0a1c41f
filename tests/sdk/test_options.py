"""What init takes, and where it sends to."""

from __future__ import annotations

import json
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.compiled_checks import CompiledChecks
from tests.sdk.pure_modules import js, load

PATH = "/serviceCore/sdk/v1/batch"
PAGE = "https://shop.example/kites?size=9"
LINKS = "https://links.example"
SEGMENTS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=3)


def options_on(script: str | None = None, base_url: str | None = None) -> types.SimpleNamespace:
    """The module on a page of the shop, loaded by a script tag with this address, or as a module."""
    tag = js({"src": script}) if script is not None else None
    module = load(
        "options",
        script_tag=tag,
        address=js({"origin": "https://shop.example", "href": PAGE}),
    )
    if base_url:
        module.options.update(baseUrl=js(base_url))
    return module


@pytest.mark.parametrize(
    ("base_url", "script", "expected"),
    [
        (None, f"{LINKS}/waylink.js?v=2", LINKS + PATH),
        (None, f"{LINKS}/waylink-0123456789ab.js", LINKS + PATH),
        (None, f"{LINKS}/sub/waylink.js", f"{LINKS}/sub{PATH}"),
        (None, None, "https://shop.example" + PATH),
        (None, "blob:https://shop.example/0123-4567", "https://shop.example" + PATH),
        (None, "data:text/javascript,1", "https://shop.example" + PATH),
        (None, "", "https://shop.example" + PATH),
        (None, "https://shop.example/a/hello.js", "https://shop.example/a/hello"),
        (None, "https://shop.example/a/hello.js?v=2", "https://shop.example/a/hello"),
        (None, "https://node.js.example/a/hello.js", "https://node.js.example/a/hello"),
        ("https://data.shop.example", f"{LINKS}/w.js", "https://data.shop.example" + PATH),
        ("https://shop.example/metrics", f"{LINKS}/waylink.js", "https://shop.example/metrics" + PATH),
        ("https://shop.example/a/hello.js", None, "https://shop.example/a/hello"),
        ("https://shop.example/a/hello.js", f"{LINKS}/waylink.js", "https://shop.example/a/hello"),
        ("https://shop.example/a/waylink.js", None, f"https://shop.example/a{PATH}"),
        ("https://shop.example/a/hello.js/", None, f"https://shop.example/a/hello.js{PATH}"),
        ("https://shop.js/", None, f"https://shop.js{PATH}"),
        (None, f"{LINKS}/waylink.js#asyncload", LINKS + PATH),
        (None, f"{LINKS}/waylink.js?v=2#asyncload", LINKS + PATH),
        (None, "https://shop.example/a/hello.js?src=/waylink.js", "https://shop.example/a/hello"),
        ("https://shop.example/a/hello.js?v=2", None, "https://shop.example/a/hello"),
        ("https://shop.example/a/?v=2", None, f"https://shop.example/a{PATH}"),
    ],
)
def test_where_calls_are_sent(base_url: str | None, script: str | None, expected: str) -> None:
    """Below baseUrl, or under its name where that is a script's; else beside the script, or under its name
    if the site chose it; else on the page."""
    assert options_on(script, base_url).batch_url() == expected


@given(SEGMENTS, st.sampled_from(["", "/"]))
def test_a_slash_at_the_end_changes_nothing(segments: list[str], slash: str) -> None:
    """Below any path there is one slash before the endpoint's, with a slash at the end of it or without."""
    base = "/".join(["https://data.example", *segments])
    assert options_on(None, base + slash).batch_url() == base + PATH


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (None, "apiKey"),
        ({}, "apiKey"),
        ({"apiKey": ""}, "apiKey"),
        ({"apiKey": " "}, "apiKey"),
        ({"apiKey": 5}, "apiKey"),
        ({"apiKey": "k", "consentMode": "yes"}, "consentMode"),
        ({"apiKey": "k", "consentMode": True}, "consentMode"),
        ({"apiKey": "k", "baseUrl": "https://[links"}, "baseUrl"),
        ({"apiKey": "k", "baseUrl": 5}, "baseUrl"),
        ({"apiKey": "k", "cookieDomain": True}, "cookieDomain"),
        ({"apiKey": "k", "debug": "yes please"}, "debug"),
        ({"apiKey": "k", "allowIframe": "false"}, "allowIframe"),
        ({"apiKey": "k", "autoPageTracking": "no"}, "autoPageTracking"),
        ([], "fields"),
    ],
)
def test_what_is_wrong_is_named(checks: CompiledChecks, options: Any, named: str) -> None:
    """The error names the option."""
    assert checks.options(options).wrong == named


@pytest.mark.parametrize("mode", [None, "required", "not_required"])
def test_right_options_pass(checks: CompiledChecks, mode: str | None) -> None:
    """A key is enough, and each consent mode of the contract is known."""
    checked = checks.options({"apiKey": " k ", "consentMode": mode})
    assert (checked.wrong, checked.said) == (None, [])
    assert json.loads(checked.taken) == {"apiKey": "k"} | ({"consentMode": mode} if mode else {})


def test_a_base_url_is_the_page_s(checks: CompiledChecks) -> None:
    """`baseUrl` may be relative to the page."""
    taken = checks.options({"apiKey": "k", "baseUrl": "/metrics"}).taken
    assert json.loads(taken)["baseUrl"] == "https://shop.example/metrics"


def test_a_typo_is_told(checks: CompiledChecks) -> None:
    """An option that does not exist is told in every mode: what it was meant to do is not done."""
    said = checks.options({"apiKey": "k", "consentmode": "required"}).said
    assert said == [["Waylink", "unknown", "consentmode"]]
