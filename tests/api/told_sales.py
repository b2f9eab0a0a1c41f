"""Sales as servers tell them, for tests."""

from __future__ import annotations

from typing import Any

import httpx

from backend.storage.driver.mongo import Database, Document
from tests.facts.organizations import TestOrganization

API = "/serviceCore/pa/v1"
SALE: dict[str, Any] = {"transaction_id": "order-1", "revenue": 19.99, "currency": "EUR"}


async def tell(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, *items: Any
) -> list[dict[str, Any]]:
    """The results of telling these items, one by itself, several as a list."""
    body = items[0] if len(items) == 1 else {"items": items}
    answer = await client.post(f"{API}/{path}", json=body, headers=organization.headers)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    assert len(results) == len(items)
    return results


async def stored(database: Database, organization: TestOrganization, name: str) -> list[Document]:
    """The organization's documents of this collection."""
    return [document async for document in database[name].find({"org_id": organization.id}).sort("at", 1)]
