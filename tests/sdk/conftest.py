"""Fixtures of the SDK's tests without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sdk.compiled_checks import CompiledChecks, compiled_checks


@pytest.fixture(scope="session")
def checks() -> Iterator[CompiledChecks]:
    """The SDK's checks in one process of Node.js."""
    with compiled_checks() as checks:
        yield checks
