"""The texts of the page before the App Store: what is copied, and what is recognized."""

from __future__ import annotations

import pytest

from backend.domain.apps.clipboard_texts import TOKEN_BYTES, id_of_text, write_text

SHORT_URL = "https://go.shop.com/spring"
TEXT = write_text(SHORT_URL, bytes(range(TOKEN_BYTES)))


def test_a_text_is_the_short_url_with_a_token() -> None:
    """Its id is the same for the same token, whatever link is before it, and does not have the token."""
    assert TEXT.removeprefix(SHORT_URL) == "#cl_clipboard=AAECAwQFBgcICQoLDA0ODw"
    text_id = id_of_text(TEXT)
    assert text_id is not None
    assert TEXT[-22:] not in text_id
    assert id_of_text(f" {TEXT}\r\n") == text_id
    assert id_of_text(write_text(SHORT_URL, bytes(TOKEN_BYTES))) != text_id


@pytest.mark.parametrize(
    "text", ["", SHORT_URL, TEXT[:-1], f"{TEXT}A", f"{TEXT} and more", TEXT.replace("#", "?"), TEXT[-22:]]
)
def test_what_is_none_of_ours(text: str) -> None:
    """A text that is cut or has more behind it stands for nothing."""
    assert id_of_text(text) is None
