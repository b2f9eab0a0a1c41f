"""The device cookie: its value, and the candidates for its domain on any host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

ID = "01234567-89ab-4def-8123-456789abcdef"
LABELS = st.lists(st.text("abc-1", min_size=1, max_size=5), min_size=1, max_size=6)


def candidates(host: str, domain: str | None = None) -> list[str]:
    """The candidates on a page of this host, with `cookieDomain` or without."""
    return load(  # type: ignore[no-any-return]
        "cookies", address=js({"hostname": host}), options=js({"cookieDomain": domain})
    ).cookie_domains()


@given(LABELS)
def test_candidates_grow_from_two_labels_to_the_host(labels: list[str]) -> None:
    """Each has one label more than the one before; the first has two, the last is the host alone."""
    host = ".".join(labels)
    found = candidates(host)
    assert found[-2:] == [host, ""]
    assert all(host.endswith(candidate) for candidate in found)
    expected = list(range(min(2, len(labels)), len(labels) + 1))
    assert sorted({len(candidate.split(".")) for candidate in found[:-1]}) == expected
    assert found[:-1] == sorted(found[:-1], key=len)


def test_the_given_domain_comes_first() -> None:
    """`cookieDomain` is tried before all others."""
    assert candidates("app.acme.com", "app.acme.com")[:2] == ["app.acme.com", "acme.com"]


@pytest.mark.parametrize(
    ("cookies", "found"),
    [
        (f"cl_device_id={ID}", ID),
        (f"a=b; cl_device_id={ID}; c=d", ID),
        (f"cl_device_id=rubbish; cl_device_id={ID}", ID),
        (f"xcl_device_id={ID}", None),
        (f"x-cl_device_id={ID}", None),
        (f"cl_device_id={ID}0", None),
        ("cl_device_id=" + "-" * 36, None),
        ("cl_device_id=" + "0" * 36, None),
        ("", None),
    ],
)
def test_only_a_uuid_under_the_very_name_is_read(cookies: str, found: str | None) -> None:
    """A cookie whose name ends alike, or whose value is no UUID, is none of ours."""
    ids = load("ids")
    module = load("cookies", of_document=lambda _: js(cookies), UUID_PATTERN=ids.UUID_PATTERN)
    assert module.read_cookie(js("cl_device_id")) == found
