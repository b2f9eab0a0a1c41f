"""What the audit log shows of a change."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.domain.audit.differences import difference

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_only_what_differs_is_there() -> None:
    """Fields that stay are left out, and fields of fields are named by their paths."""
    before = {"name": "a", "stays": 1, "brand": {"name": "A", "color": "#fff"}, "at": None}
    after = {"name": "b", "stays": 1, "brand": {"name": "A", "color": "#000"}, "at": AT}
    assert difference(before, after) == (
        {"name": "a", "brand.color": "#fff"},
        {"name": "b", "brand.color": "#000", "at": AT},
    )


def test_what_is_new_or_gone_has_one_side() -> None:
    """Of something new there is no before, and of something gone no after; what is not set is not shown."""
    assert difference(None, {"name": "a", "note": None, "tags": []}) == (None, {"name": "a"})
    assert difference({"name": "a"}, None) == ({"name": "a"}, None)
    assert difference({"name": "a"}, {"name": "a"}) == ({}, {})


def test_secrets_are_compared_and_not_shown() -> None:
    """A secret that changed is named, whether it is a field or a field of a field, and its values are not."""
    hidden = {"secret"}
    assert difference({"secret": "a"}, {"secret": "b"}, hidden) == (
        {"secret": "hidden"},
        {"secret": "hidden"},
    )
    assert difference({}, {"factor": {"secret": "b"}}, hidden) == ({}, {"factor.secret": "hidden"})
    assert difference({"secret": {"x": 1}}, {"secret": {"x": 1}}, hidden) == ({}, {})


def test_control_characters_are_replaced() -> None:
    """Nothing in an entry steers a terminal, wherever it stands; lines stay."""
    _, after = difference({}, {"text": "a\x1b[2Jb\nc", "rules": [{"name": "\x07"}]})
    assert after == {"text": "a\ufffd[2Jb\nc", "rules": [{"name": "\ufffd"}]}


def test_long_values_are_cut() -> None:
    """An entry stays readable, and says how much is left out."""
    _, after = difference({}, {"text": "x" * 5_000, "rules": [{"if": "y" * 5_000}]})
    assert after
    assert all(len(value) < 2_100 and value.endswith("characters)") for value in after.values())
