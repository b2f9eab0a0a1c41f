"""API keys and their records."""

from datetime import UTC, datetime

import pytest

from backend.domain.accounts.api_keys import KeyKind, hash_key, key_text, kind_of, new_key
from backend.domain.ids import KeyId, OrgId

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("kind", KeyKind)
def test_a_record_does_not_hold_the_key(kind: KeyKind) -> None:
    """The record has the key's hash, its prefix and last four, and nothing that leads back to a secret key; a
    web key, which every page shows, is in it."""
    secret = "Zx9-secret-of-a-key-1234"
    key = key_text(kind, secret)
    record = new_key(kind, secret, key_id=KeyId("id"), org_id=OrgId("org"), now=NOW)
    assert record.key_hash == hash_key(key) != hash_key(key + "x")
    assert record.hint == f"{kind.prefix}…1234"
    assert ("secret" in repr(record)) is (kind is KeyKind.WEB)


def test_a_prefix_names_the_kind() -> None:
    """A key's first characters say what it may do."""
    assert [kind_of(text) for text in ("c_api_x", "c_mob_x", "c_web_x", "d_api_x", "")] == [
        KeyKind.REST,
        KeyKind.MOBILE,
        KeyKind.WEB,
        None,
        None,
    ]


def test_any_text_can_be_hashed() -> None:
    """What a client sends as a key never fails to be hashed."""
    assert len(hash_key("\udc80 \0 ключ")) == 64
