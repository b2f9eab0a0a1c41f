"""The candidates for the device cookie's domain, for any host."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import JsText, load

LABELS = st.lists(st.text("abc-1", min_size=1, max_size=5), min_size=1, max_size=6)


@given(LABELS)
def test_candidates_grow_from_two_labels_to_the_host(labels: list[str]) -> None:
    """Each has one label more than the one before; the first has two, the last is the host alone."""
    host = ".".join(labels)
    found = load("cookies").candidates(JsText(host))
    assert found[-1] == ""
    assert all(host.endswith(candidate) for candidate in found)
    assert [len(each.split(".")) for each in found[:-1]] == list(range(2, len(labels) + 1))
