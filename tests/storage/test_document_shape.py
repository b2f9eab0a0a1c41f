"""What follows from the shape of a collection's documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import Cursor
from backend.domain.fields.rules import Text
from backend.domain.ids import CustomerId, LinkId, OrgId
from backend.storage.schema.document_fields import text
from backend.storage.schema.document_shape import DocumentShape, with_default

ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"


class Mood(StrEnum):
    """What somebody thinks of it."""

    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Review:
    """What somebody says of a link."""

    id: str
    org_id: OrgId
    link_id: LinkId
    by: CustomerId
    title: str
    moods: tuple[Mood, ...]
    cursor: Cursor
    replies: tuple[Reply, ...] = ()
    last: Reply | None = None
    is_shown: bool = True
    stars: int = 5


SHAPE = DocumentShape(
    record=Review,
    rules={"title": Text(9).parse},
    optional=with_default(Review),
    only_stored={"key": text},
)
WHEN = datetime(2026, 3, 1, tzinfo=UTC)
REPLY = Reply("No.", WHEN)
REVIEW = Review(
    ID, OrgId("org"), LinkId(ID), CustomerId("ada"), "Kites", (Mood.GOOD,), Cursor(3, 1), (REPLY,), REPLY
)
DOCUMENT: Mapping[str, Any] = {
    "_id": ID,
    "org_id": "org",
    "link_id": ID,
    "by": "ada",
    "title": "Kites",
    "moods": ["good"],
    "cursor": "3.1",
    "replies": [{"text": "No.", "at": WHEN}],
    "last": {"text": "No.", "at": WHEN},
    "is_shown": True,
    "stars": 5,
}


def test_a_record_is_written_and_read() -> None:
    """A document has plain values in place of a record's, and is read as the same record."""
    document = SHAPE.to_document(REVIEW)
    assert document == DOCUMENT
    assert [type(mood) for mood in document["moods"]] == [str]
    assert SHAPE.from_document(document) == REVIEW


def test_other_versions_of_a_document_are_read() -> None:
    """One that lacks optional fields has their defaults; fields that no record has are left out."""
    known = {name: value for name, value in DOCUMENT.items() if name not in with_default(Review)}
    read = SHAPE.from_document(known | {"key": "kites", "from_a_newer_version": 1})
    assert (read.title, read.replies, read.last, read.stars) == ("Kites", (), None, 5)


def test_an_id_may_begin_with_the_organizations() -> None:
    """Where the collection's ids do, the record's own id is what follows."""
    shape = DocumentShape(record=Review, is_id_within_org=True)
    document = shape.to_document(REVIEW)
    assert document["_id"] == f"org/{ID}"
    assert shape.from_document(document) == REVIEW


def test_what_is_stored_passes_the_check() -> None:
    """So does a document that lacks what is optional."""
    SHAPE.check_with_uuid({**DOCUMENT, "key": "kites"})
    SHAPE.check({"link_id": ID, "by": "ada", "title": "Kites", "moods": [], "cursor": "0.0", "key": ""})


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("_id", "x", "_id must be a UUID"),
        ("link_id", ID.upper(), "link_id is not in the form in which it is stored"),
        ("title", "Kites and more", "title must have at most 9 characters"),
        ("moods", ["so so"], "moods must be one of good, bad"),
        ("moods", "good", "moods must be a list"),
        ("cursor", "here", "cursor has a value that can't be: "),
        ("replies", [{"text": "No."}], "at is missing"),
        ("last", {"text": "No.", "at": "now"}, "at must be a date"),
        ("is_shown", 1, "is_shown must be true or false"),
        ("stars", True, "stars must be a whole number"),
        ("title", None, "title must be a string"),
        ("key", 1, "key must be a string"),
        ("more", 1, "more is not a field of such a document"),
    ],
)
def test_what_is_never_stored_is_refused(name: str, value: object, why: str) -> None:
    """The refusal names the field and the rule that follows from its type, or is said beside it."""
    with pytest.raises(InvalidField, match=f"^{why}"):
        SHAPE.check_with_uuid({**DOCUMENT, "key": "kites", name: value})


def test_a_field_without_default_is_required() -> None:
    """So is one that only documents have."""
    with pytest.raises(InvalidField, match=r"^link_id is missing"):
        SHAPE.check({name: value for name, value in DOCUMENT.items() if name != "link_id"})
    with pytest.raises(InvalidField, match=r"^key is missing"):
        SHAPE.check({**DOCUMENT})


@pytest.mark.parametrize("damaged", ["text", "", [], [REPLY], 1])
def test_what_is_no_document_is_not_read_as_one(damaged: object) -> None:
    """A damaged document in another one is no document of defaults."""
    with pytest.raises(TypeError, match=r"^Reply is stored as"):
        SHAPE.from_document({**DOCUMENT, "last": damaged})


def test_a_rule_is_of_a_field() -> None:
    """A rule for a field that the record does not have would check nothing."""
    with pytest.raises(TypeError, match="Review has no tittle"):
        DocumentShape(record=Review, rules={"tittle": text})
