"""What a tab session remembers about addresses and attribution."""

from __future__ import annotations

import types
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import JsObject, JsText, js, load

ADDRESSES = st.lists(
    st.sampled_from([f"https://shop.example/{'x' * size}" for size in range(12)]), max_size=40
)


def attribution() -> tuple[types.SimpleNamespace, dict[str, Any]]:
    """The module with a store like that of the tab's session, and what that holds."""
    kept: dict[str, Any] = {}
    session = JsObject(read=lambda name: kept.get(name, JsText()), write=kept.__setitem__)
    parse_json = lambda text: js(__import__("json").loads(text)) if text else None  # noqa: E731
    names = {
        "session": session,
        "storage_key": lambda name: name,
        "parse_json": parse_json,
        "say": lambda *_: None,
        "Promise": lambda run: run,
    }
    return load("attribution", **names), kept


def check_of(address: str) -> Any:
    """A check of an address with a signal."""
    return js({"page": address, "signals": {"gclid": "1"}})


@given(ADDRESSES)
def test_an_address_is_due_once(addresses: list[str]) -> None:
    """The first time of each address, and no other; an address that is part of another is told apart."""
    module, _ = attribution()
    asked = [bool(module.is_due(check_of(address))) for address in addresses]
    assert asked == [address not in addresses[:index] for index, address in enumerate(addresses)]


def test_an_address_without_a_signal_is_not_due() -> None:
    """A device that is known is asked about where there is a signal only."""
    module, kept = attribution()
    assert not module.is_due(js({"page": "https://shop.example/", "signals": None}))
    assert kept == {}


def test_what_is_remembered_is_bounded() -> None:
    """A session of thousands of addresses keeps the latest of them, in at most 15000 characters."""
    module, kept = attribution()
    for number in range(2000):
        module.is_due(check_of(f"https://shop.example/?utm_source={number}"))
    assert len(kept["checked"]) <= 15000
    assert not module.is_due(check_of("https://shop.example/?utm_source=1999"))


def test_organic_answers_replace_nothing() -> None:
    """The context of a link holds until another is found; each reading is a copy."""
    module, _ = attribution()
    assert module.read_context() is None
    for answer in ({"attribution": {"cl_link_id": "L1"}}, {"attribution": None}, {}):
        module.keep_result(js(answer), True)
    first = module.read_context()
    assert first == {"cl_link_id": "L1"}
    first.clear()
    assert module.read_context() == {"cl_link_id": "L1"}


def test_what_another_device_was_told_is_not_kept() -> None:
    """An answer to a call of another device leaves the visit's attribution alone."""
    module, _ = attribution()
    module.keep_result(js({"attribution": {"cl_link_id": "L1"}}), True)
    module.keep_result(js({"attribution": {"cl_link_id": "L2"}}), False)
    assert module.read_context() == {"cl_link_id": "L1"}
