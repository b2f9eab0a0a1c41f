"""How tests are dealt out to the processes of a run."""

from __future__ import annotations

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="this run has one process only")
def test_a_file_stays_in_one_process(request: pytest.FixtureRequest) -> None:
    """The group of a test is in the id by which xdist deals tests out, or each process makes all fixtures."""
    assert request.node.nodeid.endswith("@tests/test_groups.py-other")
