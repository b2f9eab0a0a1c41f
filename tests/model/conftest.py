"""Options of the tests against the model, and the histories that the service was told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from backend.app import Service
from tests.conftest import MovableClock
from tests.facts.organizations import create_test_organization
from tests.model.comparison import Difference, smallest
from tests.model.history import History
from tests.model.random_histories import random_history
from tests.model.storyteller import Storyteller

HISTORIES, SEED = 45, 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--histories` and `--seed`, for `pytest tests/model`."""
    parser.addoption("--histories", type=int, default=HISTORIES, help="how many random histories are told")
    parser.addoption("--seed", type=int, default=SEED, help="what they are made from")


@dataclass
class ToldHistories:
    """Random histories, all told to one organization."""

    seed: int
    histories: list[History]
    teller: Storyteller
    service: Service
    is_shrunk: bool = False

    async def new_teller(self) -> Storyteller:
        """Tells histories to an organization that knows none yet."""
        organization = await create_test_organization(self.service.resources.database)
        return Storyteller(self.teller.client, organization, self.teller.clock)

    async def explain(self, found: list[Difference]) -> str:
        """How many differences there are, and one of them with a history that has it.

        The first time, the history is made as small as it can be. That takes a while: if much differs, it
        is not done for every test.
        """
        difference = min(found, key=lambda candidate: candidate.number is None)
        numbers = {candidate.number for candidate in found if candidate.number is not None}
        told = f"{len(found)} differences, of {len(numbers)} histories (--seed {self.seed}).\n"
        if self.is_shrunk:
            history = "" if difference.number is None else self.histories[difference.number].in_words()
            return f"{told}One of them, as it was told:\n{history}\n{difference.in_words()}"
        self.is_shrunk = True
        some = self.histories if difference.number is None else [self.histories[difference.number]]
        small, difference = await smallest(some, difference, self.new_teller)
        return f"{told}One of them, made as small as it can be:\n{small.in_words()}\n{difference.in_words()}"


@pytest.fixture(scope="module")
async def told_histories(
    service: Service, session_clock: MovableClock, request: pytest.FixtureRequest
) -> AsyncIterator[ToldHistories]:
    """Histories that the service was told, always the same ones unless another seed is given."""
    seed = request.config.getoption("--seed", SEED)  # neither is known where all tests run
    count = request.config.getoption("--histories", HISTORIES)
    histories = [random_history(number, seed) for number in range(count)]
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        organization = await create_test_organization(service.resources.database)
        teller = Storyteller(client, organization, session_clock)
        try:
            await teller.tell(histories)
            await teller.await_clicks(histories)
        finally:
            session_clock.offset = timedelta()
        yield ToldHistories(seed, histories, teller, service)
