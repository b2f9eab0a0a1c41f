"""What a client sends does not stay in memory."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from backend.app import Service
from tests.facts.organizations import TestOrganization
from tests.security.raw_request import answer_to

REQUESTS = 200
LENGTH = 40_000  # bytes of a header, which the server takes
# Keys and values of all caches, and what the machinery keeps.
MOST = 4_000_000


@pytest.fixture
def traced() -> Iterator[None]:
    """Memory is counted from here on."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
async def test_long_headers_do_not_stay_in_memory(
    service: Service, organization: TestOrganization, tell: Callable[[str], None]
) -> None:
    """Requests whose every header is new and long leave less behind than a hundred of them had."""

    def text(prefix: bytes) -> bytes:
        return prefix + random.randbytes(LENGTH // 2).hex().encode()

    async def send() -> None:
        headers = {
            b"accept-language": text(b"de"),
            b"referer": text(b"https://site.example/"),
            b"user-agent": text(b"Mozilla/5.0 "),
            b"x-forwarded-for": text(b"192.0.2.1, "),
        }
        await answer_to(service, organization.domain, b"/nothing", *headers.items())
        await answer_to(service, text(b"host.").decode(), b"/nothing")

    await send()
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(REQUESTS):
        await send()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    sent = REQUESTS * 5 * LENGTH
    tell(f"memory: {(after - before) / 1e6:.2f} MB are left of {sent / 1e6:.0f} MB of headers")
    assert after - before < MOST
