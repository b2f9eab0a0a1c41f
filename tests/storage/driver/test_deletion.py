"""Deleting as many documents as there are, in pieces."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from backend.storage.driver import deletion
from backend.storage.driver.deletion import delete_in_pieces
from backend.storage.driver.mongo import Database


async def test_whoever_deletes_the_same_ends_when_all_is_gone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may delete what was just found. That is no reason to leave the rest."""
    monkeypatch.setattr(deletion, "_PER_COMMAND", 2)
    name, whose, others = "deleted", {"of": uuid.uuid4().hex}, {"of": uuid.uuid4().hex}
    await database[name].insert_many([{**owner} for owner in (whose, others) for _ in range(40)])

    async def left_after_deletion() -> tuple[int, int]:
        deleted = sum([of_piece async for of_piece in delete_in_pieces(database, name, whose)])
        return deleted, await database[name].count_documents(whose)

    ended = await asyncio.gather(*(left_after_deletion() for _ in range(3)))
    assert [left for _, left in ended] == [0, 0, 0]
    assert sum(deleted for deleted, _ in ended) == 40
    assert await database[name].count_documents(others) == 40
