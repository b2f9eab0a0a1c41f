"""Which tests `make quick` chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.of_changes import ALWAYS, chosen_for

TESTS = [
    Path("tests", name)
    for name in (
        "domain/links/test_limits.py",
        "domain/links/test_rules.py",
        "domain/links/destinations/test_destination.py",
        "api/links/test_limits.py",
        "api/links/test_listing.py",
        "cli/test_listing.py",
        "sdk/test_options.py",
    )
]


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ("tests/api/links/test_listing.py", ["tests/api/links/test_listing.py"]),
        (
            "backend/domain/links/links.py",
            ["tests/domain/links/test_limits.py", "tests/domain/links/test_rules.py"],
        ),
        ("backend/rest_api/links/listing.py", ["tests/api/links/test_listing.py"]),
        ("sdk_src/options.py", ["tests/sdk/test_options.py"]),
        ("backend/storage/clicks/blocks.py", []),
        ("docs/sdk.md", []),
    ],
)  # fmt: skip
def test_what_a_change_asks_for(changed: str, chosen: list[str]) -> None:
    """A file of tests asks for itself, one of domain for its folder's, others for the tests of their name."""
    assert chosen_for([Path(changed)], TESTS) == sorted([ALWAYS, *chosen])
