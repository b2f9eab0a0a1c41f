"""Rules for the saved funnels of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.funnels.input import FUNNEL_FIELDS, funnel_json
from backend.domain.analytics.funnels.saved import FUNNEL_NAME
from backend.domain.fields.rules import Uuid
from backend.storage.driver.mongo import Document
from backend.storage.funnels import saved_funnels
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule
from backend.storage.schema.document_fields import DocumentFields, as_stored, time


def _unchecked(_: str, value: object) -> object:
    return value


# The fields of the funnel itself are checked together.
_OF_FUNNEL = dict.fromkeys(FUNNEL_FIELDS, _unchecked)
_FUNNEL = DocumentFields({"name": FUNNEL_NAME.parse, "created_at": time, **_OF_FUNNEL})


def _funnel(document: Document, _: ArchiveContext) -> None:
    _FUNNEL.check(document)
    as_stored("_id", document["_id"], Uuid().parse)
    written = funnel_json(saved_funnels.funnel_in(document))
    for name in written:
        as_stored(name, document[name], lambda field, _: written[field])


RULES: Mapping[str, DocumentRule] = {saved_funnels.NAME: _funnel}
