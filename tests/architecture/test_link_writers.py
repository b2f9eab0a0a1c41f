"""Who writes links: each of them notes it in the feed (backend/storage/feed). And who writes the feed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

STORAGE = Path(__file__).parents[2] / "backend" / "storage"
WRITES = {
    "bulk_write", "delete_many", "delete_one", "find_one_and_delete", "find_one_and_replace",
    "find_one_and_update", "insert_many", "insert_one", "replace_one", "update_many", "update_one",
}  # fmt: skip
# A function that deletes what a query finds in the collection that its caller names.
IN_PIECES = "delete_in_pieces"
# Who writes links, and tags, by the name of the collection, and tells it in the same transaction.
TELLS = {
    "lifecycle/demo_history.py",
    "links/writing/writes.py",
    "links/named_items.py",
    "lifecycle/purge.py",
    "links/writing/service_changes.py",
}
# Who does so and tells nobody, and why.
TELLS_NOTHING = {
    "lifecycle/organization_deletion.py": "the feed of the organization is deleted with its links",
    "lifecycle/restores.py": "an archive has the feed beside the links that it tells of",
}
# Who writes collections that others name, among which are no links.
OTHERS = {
    "sales/batches.py": "leads, conversions and events",
    "accounts/directory/entries.py": "people and groups of a directory",
    "apps/counters.py": "counters",
    "driver/deletion.py": "what its callers name, which count as writers",
    "audit/recording.py": "what is declared as audited, as links are not",
    "visitors/dated_writes.py": "what visitors did",
    "lifecycle/privacy/personal_changes.py": "what names a visitor, as no link does",
    "lifecycle/privacy/personal_records.py": "leads, sales and events",
    "lifecycle/retention.py": "what expires",
    "resources/things.py": "what follows from a resource, which links are not",
    "schema/own_documents.py": "what an organization made by an id, such as funnels",
}


@cache
def _writes(source: str) -> tuple[str, ...]:
    """The collections that this code writes: `links.NAME` of `database[links.NAME].insert_one(...)`."""
    may_write = "database[" in source or any(f"{method}(" in source for method in (IN_PIECES, *WRITES))
    return tuple(_written(ast.parse(source))) if may_write else ()


def _written(tree: ast.Module) -> Iterator[str]:
    """One that gets a name of its own may be written by that."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Subscript(slice=collection))):
                if method in WRITES:
                    yield ast.unparse(collection)
            case ast.Call(func=ast.Name(id=method), args=[_, collection, *_]) if method == IN_PIECES:
                yield ast.unparse(collection)
            case ast.Assign(value=ast.Subscript(value=database, slice=collection)):
                if ast.unparse(database).endswith("database"):
                    yield ast.unparse(collection)


def _may_be_links(file: str, collection: str) -> bool:
    if collection == "NAME" or collection.endswith(".NAME"):
        return collection == "links.NAME" or (collection == "NAME" and file == "links/links.py")
    return True


def test_each_writer_of_links_is_known() -> None:
    """Whoever writes links, or collections that others name, is in a list."""
    found = {
        name
        for file in STORAGE.rglob("*.py")
        for name in [file.relative_to(STORAGE).as_posix()]
        for collection in _writes(file.read_text())
        if _may_be_links(name, collection)
    }
    assert found == TELLS | TELLS_NOTHING.keys() | OTHERS.keys()


def test_nothing_changes_the_feed_or_the_audit_log() -> None:
    """Entries are added, get their places, and are deleted when they are too old. That is all."""
    found = {
        file.relative_to(STORAGE).as_posix()
        for file in STORAGE.rglob("*.py")
        for collection in _writes(file.read_text())
        if collection == ("NAME" if file == STORAGE / "outbox" / "entries.py" else "entries.NAME")
    }
    assert found == {"outbox/entries.py", "outbox/sequencer.py", "outbox/aging.py"}


def test_each_of_them_tells() -> None:
    """Those who write links note in the feed what they did; for those who write named items, tags do."""
    for name in TELLS - {"links/named_items.py"} | {"links/tags.py"}:
        source = (STORAGE / name).read_text()
        assert "entries.note(" in source or "entries.note_blocking(" in source, name
