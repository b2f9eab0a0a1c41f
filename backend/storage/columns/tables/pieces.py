"""Pieces: as many documents as one transaction adds, by what they weigh."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator

from backend.storage.driver.mongo import Document

# How much of a whole piece a document takes; a whole piece is 1.
PieceWeight = Callable[[Document], float]


class _Filling:
    """The piece that documents are put into, until it is full."""

    def __init__(self, weight: PieceWeight, share: float) -> None:
        self._weight = weight
        self._share = share
        self._room = share
        self.documents: list[Document] = []

    def is_full_with(self, document: Document) -> bool:
        self.documents.append(document)
        self._room -= self._weight(document)
        return self._room <= 0

    def emptied(self) -> list[Document]:
        full, self.documents, self._room = self.documents, [], self._share
        return full


def in_pieces(documents: Iterable[Document], weight: PieceWeight, share: float) -> Iterator[list[Document]]:
    """The documents in lists of this `share` of a whole piece each, but for the last document in it."""
    filling = _Filling(weight, share)
    for document in documents:
        if filling.is_full_with(document):
            yield filling.emptied()
    if filling.documents:
        yield filling.emptied()


async def read_in_pieces(
    documents: AsyncIterable[Document], weight: PieceWeight, share: float
) -> AsyncIterator[list[Document]]:
    """As `in_pieces`, of documents that are read meanwhile."""
    filling = _Filling(weight, share)
    async for document in documents:
        if filling.is_full_with(document):
            yield filling.emptied()
    if filling.documents:
        yield filling.emptied()
