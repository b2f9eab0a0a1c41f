"""How much memory an archive takes that somebody made to take much."""

from __future__ import annotations

import tracemalloc
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.archives import archive_file
from backend.archives.archive_file import (
    LONGEST_LINE,
    ArchiveWriter,
    Entry,
    Header,
    UnreadableArchive,
    check_whole,
    read_entries,
    read_header,
)
from backend.archives.restore import _batches
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.ids_on_disk import IdsOnDisk

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ORG_ID = OrgId("8a3fd1c2-6f0b-4e57-9b1d-2c4e5a6b7c8d")
LINKS = 20_000
# Of ids in a set, each of which takes some 130 bytes; reading needs much less.
MOST_BYTES = LINKS * 40


def archive_of(path: Path, documents: Iterable[tuple[str, Document]] = ()) -> Header:
    """Write an archive with these documents; gives its header."""
    with path.open("wb") as opened:
        writer = ArchiveWriter(opened)
        writer.write_header(Header(ORG_ID, "Acme", NOW, None, has_credentials=True))
        for name, document in documents:
            writer.write_document(name, document)
        writer.write_document("organizations", {"_id": ORG_ID, "name": "Acme", "created_at": NOW})
        writer.write_end()
    return read_header(path)


def test_ids_of_links_are_not_in_memory(tmp_path: Path) -> None:
    """Of an archive with many links, less stays in memory while it is checked than their ids would take."""
    purged = ({"_id": str(uuid.UUID(int=number)), "org_id": ORG_ID, "at": NOW} for number in range(LINKS))
    file = tmp_path / "archive.jsonl"
    header = archive_of(file, (("purged_links", document) for document in purged))
    tracemalloc.start()
    try:
        contents = check_whole(file, header, NOW, lambda _: None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    known = contents.context.link_ids
    assert str(uuid.UUID(int=LINKS - 1)) in known
    assert str(uuid.UUID(int=LINKS)) not in known


def test_ids_on_disk() -> None:
    """A set keeps what it was given, each once, and knows nothing else."""
    ids = IdsOnDisk()
    for _ in range(2):
        ids.update(f"{number}/ä🪁" for number in range(10_000))
    assert all(f"{number}/ä🪁" in ids for number in range(0, 10_000, 97))
    assert [other for other in ("10000/ä🪁", "1", "", None, 7, ["1/ä🪁"]) if other in ids] == []


def test_a_line_is_no_longer_than_a_document_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer one is refused by its number, wherever it stands, and is written by nobody."""
    file = tmp_path / "archive.jsonl"
    header = archive_of(file)
    head = file.read_bytes().splitlines(keepends=True)[0]
    file.write_bytes(head + b"x" * (LONGEST_LINE + 1))
    with pytest.raises(UnreadableArchive, match="Line 2 has more than 33,554,432 bytes"):
        check_whole(file, header, NOW, lambda _: None)
    with pytest.raises(UnreadableArchive, match="Line 2 has more than"):
        next(read_entries(file, header))
    file.write_bytes(b" " * (LONGEST_LINE + 1) + head)
    with pytest.raises(UnreadableArchive, match="Line 1 has more than"):
        read_header(file)
    monkeypatch.setattr(archive_file, "LONGEST_LINE", 400)
    with pytest.raises(UnreadableArchive, match="400 are the most"):
        archive_of(file, [("tags", {"_id": "x" * 400, "org_id": ORG_ID})])


def test_few_large_documents_are_stored_at_a_time() -> None:
    """Documents are stored in groups of 500, or of 16 MB; a larger one by itself. None is left out."""
    sizes = [1_000] * 1_200 + [7_000_000] * 5 + [20_000_000] + [1_000]
    entries = [Entry("tags", {"_id": number}, number, size, 0) for number, size in enumerate(sizes)]
    groups = [group for _, group in _batches(entries)]
    assert [entry for group in groups for entry in group] == entries
    assert [len(group) for group in groups] == [500, 500, 202, 2, 1, 1, 1]
