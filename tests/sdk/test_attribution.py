"""What a tab session remembers about addresses and attribution."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import JsObject, js, load

ADDRESSES = st.lists(
    st.sampled_from([f"https://shop.example/{'x' * size}" for size in range(12)]), max_size=40
)


def session() -> tuple[JsObject, dict[str, Any]]:
    """A store like that of the tab's session, and what it holds."""
    kept: dict[str, Any] = {}
    return JsObject(read=kept.get, write=kept.__setitem__), kept


@given(ADDRESSES)
def test_an_address_is_unchecked_once(addresses: list[str]) -> None:
    """The first time of each address, and no other; an address that is part of another is told apart."""
    attribution, (store, _) = load("attribution"), session()
    asked = [attribution.is_unchecked(store, js(address)) for address in addresses]
    assert asked == [address not in addresses[:index] for index, address in enumerate(addresses)]


def test_what_is_remembered_is_bounded() -> None:
    """A session of thousands of addresses keeps the latest of them, in at most 9000 characters."""
    attribution, (store, kept) = load("attribution"), session()
    for number in range(2000):
        attribution.is_unchecked(store, js(f"https://shop.example/?utm_source={number}"))
    assert len(kept["cl_checked"]) <= 9000
    assert not attribution.is_unchecked(store, js("https://shop.example/?utm_source=1999"))


def test_organic_answers_replace_nothing() -> None:
    """The context of a link holds until another is found."""
    attribution, (store, _) = load("attribution"), session()
    assert attribution.read_context(store) is None
    for answer in ({"cl_link_id": "L1"}, None):
        attribution.remember(store, answer)
    assert attribution.read_context(store) == {"cl_link_id": "L1"}
