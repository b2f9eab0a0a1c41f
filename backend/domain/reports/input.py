"""The fields of a report that its organization says, and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.accounts.origins import InvalidOrigin, parse_origin
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Rule, Schema, Text, Word, parse_string
from backend.domain.links.limits import LimitTime, LinkPassword
from backend.domain.reports.report import Report
from backend.domain.reports.saved_query import SavedQuery
from backend.domain.reports.views import ReportView, ViewKind, read_view

MOST_ORIGINS = 20
REPORT_NAME = Text(100, shown=True)
_LAST_YEAR = 9998


class EmbedOrigins:
    """The origins of the sites that may show the report in a frame."""

    def parse(self, field: str, value: object) -> tuple[str, ...]:
        """The origins in their normal form, each once. Raises InvalidField."""
        if not isinstance(value, list) or len(value) > MOST_ORIGINS:
            raise InvalidField(field, f"must be a list of at most {MOST_ORIGINS} origins")
        try:
            return tuple(dict.fromkeys(parse_origin(parse_string(field, origin)) for origin in value))
        except (InvalidOrigin, ValueError):
            raise InvalidField(
                field, "must have origins such as https://shop.com or https://*.shop.com, without a path"
            ) from None

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        origin = {"type": "string", "example": "https://shop.com"}
        return {"type": "array", "items": origin, "maxItems": MOST_ORIGINS}


@dataclass(frozen=True, slots=True)
class OrNull:
    """What `rule` takes, or null for none. The empty text is not null: it must not remove a password."""

    rule: Rule[Any]

    def parse(self, field: str, value: object) -> Any:
        """The value, or None. Raises InvalidField."""
        return None if value is None else self.rule.parse(field, value)

    def schema(self) -> Schema:
        """JSON Schema of the value or null."""
        return {"anyOf": [self.rule.schema(), {"type": "null"}]}


class ReportEnd(LimitTime):
    """The time from which on nobody may open the report: that of a link's limits."""

    def parse(self, field: str, value: object) -> datetime:
        """The time in UTC, in whole seconds. Raises InvalidField."""
        end = super().parse(field, value)
        if end.year > _LAST_YEAR:
            raise InvalidField(field, f"must be before the year {_LAST_YEAR + 1}")
        return end


REPORT_FIELDS: dict[str, Rule[Any]] = {
    "name": REPORT_NAME,
    "kind": Word(ViewKind),
    "query": SavedQuery(),
    "shows_revenue": Flag(),
    "shows_notes": Flag(),
    "password": OrNull(LinkPassword()),
    "embed_origins": EmbedOrigins(),
    "expires_at": OrNull(ReportEnd()),
}
REPORT_REQUIRED = ("name", "query")


def check_report(fields: Mapping[str, Any], now: datetime, before: Report | None = None) -> ReportView | None:
    """What a report of these parsed fields shows; None if they don't change that.

    Fields that are not given are those of the report `before`. Raises InvalidField if nothing can be shown.
    """
    end = fields.get("expires_at")
    if end is not None and end <= now:
        raise InvalidField("expires_at", "must not have passed")
    kind = fields.get("kind", before.kind if before else ViewKind.TABLE)
    query = fields.get("query", before.query if before else {})
    shows_revenue = fields.get("shows_revenue", before.shows_revenue if before else False)
    if before and (kind, query, shows_revenue) == (before.kind, before.query, before.shows_revenue):
        return None
    return read_view(kind, query, now, shows_revenue=shows_revenue)
