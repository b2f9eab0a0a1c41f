"""Counts of an archive: of a link's clicks, of its installs, and of all clicks of the organization."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backend.domain.analytics import FINE_BUCKETS_KEPT, day_of, is_bucket, is_fine
from backend.domain.errors import InvalidField
from backend.domain.rollup import (
    BOUNDED,
    DAY_SECONDS,
    MOST_VALUES,
    QUARTER_SECONDS,
    Dimension,
    name_of,
    value_of,
)
from backend.storage import click_counts, install_counts, organization_counts
from backend.storage.archived_documents.holdings import (
    DocumentRule,
    Holdings,
    expires_within,
    own_id,
    own_link,
)
from backend.storage.document_fields import DocumentFields, anything, binary, text, time
from backend.storage.mongo import Document
from backend.storage.rollups import MOST_SECONDS, seconds_in
from backend.storage.visitor_sketches import check_sketch

_LONGEST_NAME = 1_600  # of a value of 512 characters, each escaped


def _sketch(name: str, value: object) -> object:
    check_sketch(bytes(binary(name, value)))  # type: ignore[call-overload]
    return value


_COUNTS = DocumentFields({"link_id": text, "parts": anything}, {"expires_at": time})
_ROLLUP = DocumentFields(
    {},
    {
        "link_id": text,
        "parts": anything,
        "quarters": anything,
        "seconds": binary,
        "visitors": _sketch,
        **dict.fromkeys(Dimension, anything),
        "day": text,
        "expires_at": time,
    },
)


def _counts(document: Document, holdings: Holdings) -> None:
    _COUNTS.check(document)
    expires_within(FINE_BUCKETS_KEPT, document, holdings)
    own_link(document["link_id"], holdings)
    bucket = str(document["_id"]).removeprefix(f"{document['link_id']}/")
    own_id(document, document["link_id"], bucket)
    _bucket(bucket, document)


def _link_rollup(document: Document, holdings: Holdings) -> None:
    own_link(document["link_id"], holdings)
    _rollup(document, str(document["link_id"]), holdings)


def _organization_rollup(document: Document, holdings: Holdings) -> None:
    if "link_id" in document:
        raise InvalidField("link_id", "is not a field of such a document")
    _rollup(document, holdings.org_id, holdings)


def _rollup(document: Document, subject: str, holdings: Holdings) -> None:
    _ROLLUP.check(document)
    expires_within(FINE_BUCKETS_KEPT, document, holdings)
    bucket = str(document["_id"]).removeprefix(f"{subject}/")
    own_id(document, subject, bucket)
    _bucket(bucket, document)
    if document.get("day", day_of(bucket)) != day_of(bucket):
        raise InvalidField("day", "must be the day that is counted")
    of_day = {"quarters", "seconds", "visitors", *Dimension}.intersection(document)
    if of_day and not bucket.startswith("day/"):
        raise InvalidField(of_day.pop(), "is a field of days only")
    quarters = document.get("quarters", {})
    if not set(quarters) <= {str(number) for number in range(DAY_SECONDS // QUARTER_SECONDS)}:
        raise InvalidField("quarters", "must be quarters of an hour, each with a number")
    _numbers("quarters", quarters)
    _seconds(document.get("seconds", b""))
    for dimension in Dimension:
        _values(dimension, document.get(dimension, {}))


def _bucket(bucket: str, document: Document) -> None:
    if not is_bucket(bucket) or is_fine(bucket) is not ("expires_at" in document):
        raise InvalidField("_id", "does not name a day, hour or minute as they are counted")
    if not all(re.fullmatch(r"all|[0-9]|[1-5][0-9]", part) for part in document.get("parts", {})):
        raise InvalidField("parts", "must be hours, minutes or seconds, each with a number")
    _numbers("parts", document.get("parts", {}))


def _numbers(name: str, counts: Mapping[str, object]) -> None:
    for count in counts.values():
        if type(count) is not int or not 0 <= count < 2**62:
            raise InvalidField(name, "must hold whole numbers from 0")


def _seconds(stored: bytes) -> None:
    seconds = seconds_in(stored)
    if len(seconds) > MOST_SECONDS or any(second >= DAY_SECONDS for second in seconds):
        raise InvalidField("seconds", f"must be at most {MOST_SECONDS} seconds of a day")


def _values(dimension: Dimension, values: Mapping[str, object]) -> None:
    if dimension in BOUNDED and len(values) > MOST_VALUES + 1:
        raise InvalidField(dimension, f"must have at most {MOST_VALUES} values")
    for name in values:
        text(dimension, name, _LONGEST_NAME)
        if not name.startswith("%") and name_of(value_of(name)) != name:
            raise InvalidField(dimension, "has a name that is not in the form in which it is stored")
    _numbers(dimension, values)


RULES: Mapping[str, DocumentRule] = {
    click_counts.NAME: _link_rollup,
    organization_counts.NAME: _organization_rollup,
    install_counts.NAME: _counts,
}
