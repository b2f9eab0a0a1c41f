"""The values of fields for rows of `shares`, as SQL. `links` are the stored links, joined to these rows, and
`earning` has the clicks that earned them; `told` has the metadata of events."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.query import LINK_FIELDS, Field, QueryField
from backend.storage.analytics.conditions.links import link_column
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.referring_sites import site_in_sql

# What the address of a visit says of its source, for visits that no link led to.
OF_ADDRESS: Mapping[str, str] = {field: f"shares.{field}" for field in Field if field.is_in_addresses}
_OWN: Mapping[Field, str] = {Field.VARIANT: "shares.variant", Field.EVENT: "shares.name"}
# The kind of a row that is separate from all links.
APART = f"""
    CASE WHEN NOT shares.has_touch THEN '{RowKind.NOT_CREDITED}'
        WHEN shares.link IS NOT NULL AND links.link IS NULL THEN '{RowKind.PURGED_LINKS}' END
"""


def value_of_share(field: QueryField, parameters: SqlParameters) -> str:
    """The expression of this field's value for a share."""
    if isinstance(field, EventProperty):
        return f"told.metadata[{parameters(field.property_name)}]"
    if field in LINK_FIELDS:
        column = f"links.{link_column(field)}"
        if field not in OF_ADDRESS:
            return column
        return f"CASE WHEN shares.link IS NULL THEN {OF_ADDRESS[field]} ELSE {column} END"
    return _OWN.get(field) or value_of_click(field, "earning.click")


def value_of_click(field: Field, click: str) -> str:
    """The expression of this field's value for a click."""
    if field is Field.REFERRING_SITE:
        return site_in_sql(f"{click}.{Field.REFERRER}")
    return f"{click}.{field}"
