"""What tests of faults share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.faults.visited_link import VisitedLink, visited_link


@pytest.fixture
async def link(mongodb_uri: str) -> AsyncIterator[VisitedLink]:
    """A link in a database of the test's own."""
    async with visited_link(mongodb_uri) as link:
        yield link
