"""Rules for the counts of installs of an archive's links."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backend.domain.errors import InvalidField
from backend.domain.links.window_counts import FINE_BUCKETS_KEPT, is_bucket, is_fine
from backend.storage.apps import install_counts
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_id,
    own_link,
)
from backend.storage.schema.document_fields import DocumentFields, anything, text, time

_COUNTS = DocumentFields({"link_id": text, "parts": anything}, {"expires_at": time})


def _counts(document: Document, context: ArchiveContext) -> None:
    _COUNTS.check(document)
    expires_within(FINE_BUCKETS_KEPT, document, context)
    own_link(document["link_id"], context)
    bucket = str(document["_id"]).removeprefix(f"{document['link_id']}/")
    own_id(document, document["link_id"], bucket)
    if not is_bucket(bucket) or is_fine(bucket) is not ("expires_at" in document):
        raise InvalidField("_id", "does not name a day, hour or minute as they are counted")
    if not all(re.fullmatch(r"all|[0-9]|[1-5][0-9]", part) for part in document["parts"]):
        raise InvalidField("parts", "must be hours, minutes or seconds, each with a number")
    for count in document["parts"].values():
        if type(count) is not int or not 0 <= count < 2**62:
            raise InvalidField("parts", "must hold whole numbers from 0")


RULES: Mapping[str, DocumentRule] = {install_counts.NAME: _counts}
