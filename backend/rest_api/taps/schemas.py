"""JSON Schema of explained taps."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import TEXT, TEXTS, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.domain.taps.devices import CachedFile, TapDevice
from backend.domain.taps.tap import Effect

_TAP = answer_object(
    device={"enum": [*TapDevice]},
    tapped_in=TEXT,
    has_app={"type": "boolean"},
    file=or_null({"enum": [*CachedFile]}),
    effect={"enum": [*Effect]},
    address=or_null(TEXT),
    why=TEXTS,
    differs={"type": "boolean", "description": "Whether it does otherwise without the query’s behaviours."},
)


TAP_SCHEMAS: dict[str, Schema] = {
    "ExplainedTaps": answer_object(short_url=TEXT, taps={"type": "array", "items": _TAP}),
}
