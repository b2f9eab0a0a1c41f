"""The texts of cursors."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.feed.cursor import MOST_CHARACTERS, Cursor, FeedMark, InvalidCursor
from tests.examples import examples

MARKS = st.builds(
    FeedMark.of, st.text(), st.datetimes(datetime(1970, 1, 2), datetime(2105, 1, 1), timezones=st.just(UTC))
)
CURSORS = st.builds(
    Cursor, st.integers(0, 10**18 - 1), st.integers(0, 10**9 - 1), st.one_of(st.none(), MARKS)
)


@given(CURSORS)
@settings(max_examples=examples())
def test_a_cursor_is_read_as_it_was_written(cursor: Cursor) -> None:
    """With its mark or without one, in as many characters as requests may have."""
    text = str(cursor)
    assert len(text) <= MOST_CHARACTERS
    assert (Cursor.parse(text), Cursor.parse(text).mark) == (cursor, cursor.mark)


@pytest.mark.parametrize("text", ["1.0.", "1.0.5f5e48403db7920", "1.0.5F5E48403DB7920B", "1.0.0.0", "1.0 "])
def test_what_is_no_cursor(text: str) -> None:
    """A mark is whole, or not there."""
    with pytest.raises(InvalidCursor):
        Cursor.parse(text)
