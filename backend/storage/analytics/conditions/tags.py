"""Which tags a query leaves, by the names that they have at the moment."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from backend.domain.analytics.query import Field, Filter, Not, Prefix, Query
from backend.domain.fields.item_names import name_key
from backend.storage.analytics.conditions.given import Given

_IDS = "coalesce(tag_ids, [])"


@dataclass(frozen=True, slots=True)
class TagChoice:
    """The ids of all tags, and which of them, or links without any, are left.

    A filter leaves the links that have one of the tags that it names, and of these the rows of those tags.
    With `Not` it leaves all other links.
    """

    known: Sequence[str]
    shown: Sequence[str]
    without: bool
    excluded: Sequence[str] = ()
    is_filter: bool = False

    def leaves_link(self, given: Given) -> str:
        """The condition for a row of `links`."""
        if not self.is_filter:
            return "true"
        left = _has_one(self.shown, given)
        if self.without:
            left = f"({left} OR NOT {_has_one(self.known, given)})"
        return f"({left} AND NOT {_has_one(self.excluded, given)})" if self.excluded else left

    def of_links(self, links: str, given: Given) -> str:
        """A SELECT of `link` and `tag`, null for one without, of the links in this table."""
        shown = f"list_intersect({_IDS}, {given(self.shown)}::VARCHAR[])"
        return f"""
            SELECT link, tags.name AS tag FROM (SELECT link, unnest({shown}) AS id FROM {links}) AS named
            JOIN tags USING (id)
            UNION ALL
            SELECT link, NULL FROM {links} WHERE NOT {_has_one(self.known, given)}
        """


def _has_one(ids: Sequence[str], given: Given) -> str:
    """Whether a link has one of these tags."""
    return f"list_has_any({_IDS}, {given(ids)}::VARCHAR[])"


def choose_tags(connection: DuckDBPyConnection, query: Query) -> TagChoice | None:
    """What the query says of tags; None if it has nothing to do with them."""
    if Field.TAG not in query.fields:
        return None
    names = dict(connection.execute("SELECT id, name FROM tags").fetchall())
    known = sorted(names)
    chosen = query.filters.get(Field.TAG)
    if chosen is None:
        return TagChoice(known, known, without=True)
    leaves, without = _rule(chosen)
    shown = [each for each in known if leaves(names[each])]
    excluded = [each for each in known if not leaves(names[each])] if isinstance(chosen, Not) else []
    return TagChoice(known, shown, without, excluded, is_filter=True)


def _rule(chosen: Filter) -> tuple[Callable[[str], bool], bool]:
    """Which names the filter leaves, and whether links without tags."""
    if isinstance(chosen, Prefix):
        begin = name_key(chosen.text)
        return lambda name: name_key(name).startswith(begin), False
    values = chosen.values if isinstance(chosen, Not) else chosen
    keys = {name_key(each) for each in values if each is not None}
    if isinstance(chosen, Not):
        return lambda name: name_key(name) not in keys, None not in values
    return lambda name: name_key(name) in keys, None in values
