"""A visitor who calls the service by the browser SDK."""

from __future__ import annotations

import httpx
import pytest

from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)
