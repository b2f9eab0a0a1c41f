"""Bodies with very many fields that a request does not have: refusing one keeps nobody else waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from backend.domain.errors import MOST_ERRORS, FieldError
from tests.api.link_calls import API, link_body
from tests.facts.organizations import TestOrganization

MANY = {f"f{number}": 1 for number in range(60_000)}
SOME = {f"f{number}": 1 for number in range(2_000)}  # twice as a body of 64 KB takes
BODIES: dict[str, tuple[str, Callable[[TestOrganization], dict[str, Any]]]] = {
    "bulk": ("/links/bulk", lambda _: {"operations": [{"op": "create"} | MANY]}),
    "link of a bulk": ("/links/bulk", lambda _: {"operations": [{"op": "create", "link": MANY}]}),
    "rule of a link": ("/links", lambda own: link_body(own, rules=[{"if": SOME, "then": SOME}])),
    "told beside items": ("/conversions", lambda _: {"items": [{}]} | MANY),
    "conversion": ("/conversions", lambda _: MANY),
    "refund": ("/conversions/refund", lambda _: MANY),
    "step of a funnel": ("/analytics/funnel", lambda _: {"steps": [{"kind": "click"} | MANY, {}]}),
    "query": ("/analytics/query", lambda _: MANY),
}


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=BODIES)
async def test_as_many_errors_are_made_as_are_told(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: Callable[[TestOrganization], dict[str, Any]],
) -> None:
    """Sixty thousand errors take a quarter of a second, in which the process answers nobody."""
    make, made = FieldError.__init__, 0

    def count(error: FieldError, *arguments: Any) -> None:
        nonlocal made
        made += 1
        make(error, *arguments)

    monkeypatch.setattr(FieldError, "__init__", count)
    answer = await client.post(API + path, json=body(organization), headers=organization.headers)
    assert "f0" in answer.text, answer.text[:300]
    assert MOST_ERRORS <= made < 5 * MOST_ERRORS
