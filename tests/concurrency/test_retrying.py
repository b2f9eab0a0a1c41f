"""Work that failed is tried again after pauses that stay short."""

from __future__ import annotations

import pytest

from backend.concurrency.retrying import Retries


@pytest.mark.parametrize("failures", [1, 5, 1024, 1_000_000])
def test_the_pause_between_tries_is_bounded(failures: int) -> None:
    """However long the database is away, the next try comes within two seconds."""
    retries = Retries()
    retries.failures = failures - 1
    assert 0 < retries.fail() <= 2
    assert retries.failures == failures


def test_pauses_grow_to_the_longest_one_and_begin_anew_after_a_success() -> None:
    """Each pause is twice as long as the one before, up to the longest."""
    retries = Retries(first=0.5, longest=3.0, jitter=0)
    assert [retries.fail() for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    retries.succeed()
    assert retries.fail() == 0.5
