"""The tags that pass a query's filter, by the names that they have at the moment."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from backend.domain.analytics.query import Field, Filter, Not, Prefix, Query
from backend.domain.fields.item_names import name_key
from backend.storage.analytics.conditions.moment_answers import rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters

_IDS = "coalesce(tag_ids, [])"


@dataclass(frozen=True, slots=True)
class TagChoice:
    """The ids of all tags, and the `shown` ones among them; `without`: whether links without tags are shown.

    A filter passes the links that have one of the tags that it names, and of these the rows of those tags.
    With `Not` it passes all other links.
    """

    all_ids: Sequence[str]
    shown: Sequence[str]
    without: bool
    excluded: Sequence[str] = ()
    is_filter: bool = False

    def passes_link(self, parameters: SqlParameters) -> str:
        """The condition that a row of `links` passes the filter."""
        if not self.is_filter:
            return "true"
        passes = _has_one(self.shown, parameters)
        if self.without:
            passes = f"({passes} OR NOT {_has_one(self.all_ids, parameters)})"
        return f"({passes} AND NOT {_has_one(self.excluded, parameters)})" if self.excluded else passes

    def of_links(self, links: str, parameters: SqlParameters) -> str:
        """A SELECT of `link` and `tag`, null for one without, of the links in this table."""
        shown = f"list_intersect({_IDS}, {parameters(self.shown)}::VARCHAR[])"
        return f"""
            SELECT link, tags.name AS tag FROM (SELECT link, unnest({shown}) AS id FROM {links}) AS named
            JOIN tags USING (id)
            UNION ALL
            SELECT link, NULL FROM {links} WHERE NOT {_has_one(self.all_ids, parameters)}
        """


def _has_one(ids: Sequence[str], parameters: SqlParameters) -> str:
    """Whether a link has one of these tags."""
    return f"list_has_any({_IDS}, {parameters(ids)}::VARCHAR[])"


def choose_tags(connection: DuckDBPyConnection, query: Query) -> TagChoice | None:
    """The tags that the query shows; None if it neither filters nor groups by tags."""
    return choose_tags_by(connection, query.filters.get(Field.TAG)) if Field.TAG in query.fields else None


def choose_tags_by(connection: DuckDBPyConnection, chosen: Filter | None) -> TagChoice:
    """The tags that this filter shows; all without one."""
    names = dict(rows_once(connection, "SELECT id, name FROM tags"))
    all_ids = sorted(names)
    if chosen is None:
        return TagChoice(all_ids, all_ids, without=True)
    passes, without = _rule(chosen)
    shown = [tag_id for tag_id in all_ids if passes(names[tag_id])]
    excluded = [tag_id for tag_id in all_ids if not passes(names[tag_id])] if isinstance(chosen, Not) else []
    return TagChoice(all_ids, shown, without, excluded, is_filter=True)


def _rule(chosen: Filter) -> tuple[Callable[[str], bool], bool]:
    """A test whether a tag's name passes the filter, and whether links without tags pass it."""
    if isinstance(chosen, Prefix):
        begin = name_key(chosen.text)
        return lambda name: name_key(name).startswith(begin), False
    values = chosen.values if isinstance(chosen, Not) else chosen
    keys = {name_key(name) for name in values if name is not None}
    if isinstance(chosen, Not):
        return lambda name: name_key(name) not in keys, None not in values
    return lambda name: name_key(name) in keys, None in values
