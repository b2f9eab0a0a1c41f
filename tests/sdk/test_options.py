"""What init takes, and where it sends to."""

from __future__ import annotations

import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

PATH = "/serviceCore/sdk/v1/batch"
PAGE = "https://shop.example/kites?size=9"
SEGMENTS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=3)


def options_on(script: str | None = None) -> types.SimpleNamespace:
    """The module on a page of the shop, loaded by a script tag with this address, or as a module."""
    tag = js({"src": script}) if script is not None else None
    return load("options", document=js({"currentScript": tag}), location=js({"href": PAGE}))


@pytest.mark.parametrize(
    ("base_url", "script", "expected"),
    [
        (None, "https://links.example/waylink.js?v=2", "https://links.example" + PATH),
        (None, None, "https://shop.example" + PATH),
        (None, "", "https://shop.example" + PATH),
        ("https://data.shop.example", "https://links.example/w.js", "https://data.shop.example" + PATH),
        ("/metrics", "https://links.example/waylink.js", "https://shop.example/metrics" + PATH),
        ("/", None, "https://shop.example" + PATH),
    ],
)
def test_where_calls_are_sent(base_url: str | None, script: str | None, expected: str) -> None:
    """Below baseUrl, relative to the page; else where the script came from; else the page's origin."""
    assert options_on(script).batch_url(js(base_url)) == expected


@given(SEGMENTS, st.sampled_from(["", "/"]))
def test_a_slash_at_the_end_changes_nothing(segments: list[str], slash: str) -> None:
    """Below any path there is one slash before the endpoint's, with a slash at the end of it or without."""
    base = "/".join(["https://data.example", *segments])
    assert options_on().batch_url(js(base + slash)) == base + PATH


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (None, "apiKey"),
        ({}, "apiKey"),
        ({"apiKey": ""}, "apiKey"),
        ({"apiKey": 5}, "apiKey"),
        ({"apiKey": "k", "consentMode": "yes"}, "consentMode"),
        ({"apiKey": "k", "consentMode": True}, "consentMode"),
        ({"apiKey": "k", "baseUrl": "https://[links"}, "baseUrl"),
    ],
)
def test_what_is_wrong_is_named(options: Any, named: str) -> None:
    """The sentence begins with the option."""
    assert options_on().check_options(js(options)).startswith(named)


@pytest.mark.parametrize("mode", [None, "required", "not_required"])
def test_right_options_pass(mode: str | None) -> None:
    """A key is enough, and each consent mode of the contract is known."""
    assert options_on().check_options(js({"apiKey": "k", "consentMode": mode})) is None
