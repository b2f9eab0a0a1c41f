"""Which signals an address has (contract, SDK rule 3)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

SIGNALS = load("signals")
NAMES = [
    *("cl_link_id", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
    *("fbclid", "gclid", "gbraid", "wbraid", "ttclid", "cl_variant", "cl_click_id"),
]
VALUES = st.text("ab1 &=+%é", max_size=600)
OTHERS = st.text("abc_", min_size=1, max_size=8).filter(lambda name: name not in NAMES)


def signals_of(query: str, fragment: str = "") -> dict[str, str] | None:
    """The signals of a page with this query and this fragment."""
    found: dict[str, str] | None = SIGNALS.read_signals(js({"search": query, "hash": fragment}))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_signals(name: str) -> None:
    """Each is read under its very name, the first value of several; no longer or shorter name is."""
    query = f"?x{name}=0&{name}x=0&{name[1:]}=0&{name}=1&{name}=2"
    assert signals_of(query) == {name: "1"}


@given(st.dictionaries(st.sampled_from(NAMES), VALUES), st.dictionaries(OTHERS, VALUES))
def test_what_is_read_is_what_stands_there(signals: dict[str, str], others: dict[str, str]) -> None:
    """Every signal that is not empty, cut to 512 characters, and nothing else, in any order of parameters."""
    expected = {name: value[:512] for name, value in signals.items() if value}
    for given_in_order in ({**signals, **others}, {**others, **signals}):
        assert (signals_of("?" + urlencode(given_in_order)) or {}) == expected


@pytest.mark.parametrize(
    ("query", "fragment", "campaign"),
    [
        ("", "#/sale?utm_campaign=spring", "spring"),
        ("", "#!/sale?size=9&utm_campaign=spring", "spring"),
        ("?size=9", "#/sale?utm_campaign=spring", "spring"),
        ("?utm_campaign=landing", "#/sale?utm_campaign=spring", "landing"),
        ("?utm_campaign=what?now", "#top", "what?now"),
        ("?utm_campaign=", "#/sale?utm_campaign=spring?now", "spring?now"),
        ("?utm_campaign=spring", "#utm_campaign=fragment", "spring"),
        ("", "#/sale?utm_campaign=spring#reviews", "spring"),
        ("", "#/sale?utm_campaign=spring#reviews?utm_campaign=late", "spring"),
    ],
)
def test_the_query_of_a_hash_router(query: str, fragment: str, campaign: str) -> None:
    """A fragment may have parameters behind a route; those of the query come first."""
    assert signals_of(query, fragment) == {"utm_campaign": campaign}


@pytest.mark.parametrize(
    "fragment", ["#", "#top", "#/sale", "#/sale?size=9", "#/utm_campaign=spring/?", "#utm_campaign=spring"]
)
def test_other_fragments_have_none(fragment: str) -> None:
    """A place on the page, or a route without a signal, is no visit of a campaign."""
    assert signals_of("", fragment) is None


@pytest.mark.parametrize(
    "search", ["", "?", "?colour=red", "?utm_source", "?utm_source=", "?UTM_SOURCE=a", "?cl_risk_id=1"]
)
def test_no_signal_is_none(search: str) -> None:
    """Without a signal there is nothing, not an empty object."""
    assert signals_of(search) is None
