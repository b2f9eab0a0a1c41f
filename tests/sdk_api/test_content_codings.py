"""The content coding of an answer follows Accept-Encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.sdk_api.content_codings import choose_coding

AVAILABLE = ("br", "gzip", "identity")


@pytest.mark.parametrize(
    ("accept_encoding", "coding"),
    [
        (None, "identity"),
        ("", "identity"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip, deflate", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("deflate, zstd", "identity"),
        ("br;q=0.5, gzip;q=0.8", "gzip"),
        ("br;q=0.1", "br"),
        ("br;q=0", "identity"),
        ("br;q=0, gzip;q=0, *", "identity"),
        ("identity", "identity"),
        ("identity, br;q=0.5", "identity"),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("identity;q=0, gzip;q=0.001", "gzip"),
        ("*", "br"),
        ("*;q=0.5, gzip", "gzip"),
        ("*;q=0, gzip", "gzip"),
        ("*;q=0", None),
        ("identity;q=0", None),
        ("identity;q=0, zstd", None),
        ("br;q=nonsense, gzip", "gzip"),
    ],
)
def test_what_is_chosen(accept_encoding: str | None, coding: str | None) -> None:
    """The best that the client accepts, ours first where it does not care; None where it accepts nothing."""
    assert choose_coding(accept_encoding, AVAILABLE) == coding


def test_only_what_exists_is_chosen() -> None:
    """A file that has no compressed form is sent as it is."""
    assert choose_coding("br, gzip", ["identity"]) == "identity"


@given(st.text())
def test_nothing_breaks_it(accept_encoding: str) -> None:
    """Any text gets an answer."""
    assert choose_coding(accept_encoding, AVAILABLE) in {*AVAILABLE, None}
