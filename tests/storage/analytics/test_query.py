"""Answers to queries of analytics from facts in columns equal a naive count over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.answer import AnalyticsAnswer, Row
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query
from backend.storage.analytics.answers.query import answer_query, stream_query
from tests.examples import examples
from tests.storage.analytics.naive.counts import Key, Tally, count_naively, label_of
from tests.storage.analytics.naive.values import shown, values_shown
from tests.storage.analytics.queried_facts import StoredFacts
from tests.storage.analytics.random_facts import histories, ms, queries

MOST_PAGES = 8


def key(row: Row) -> Key:
    """What a row is of."""
    return (*row.group, row.kind) if row.kind else row.group


def plain(value: object) -> object:
    """A value without amounts of nothing."""
    return {name: amount for name, amount in value.items() if amount} if isinstance(value, Mapping) else value


def expected_rows(
    facts: StoredFacts, query: Query
) -> tuple[dict[Key, tuple[Tally, Tally]], tuple[Tally, Tally], dict[Key, tuple[Tally, Tally]]]:
    """Now and before: of each row, of all; what is there now."""
    spans = query.period.spans(query.time_field)
    now, total = count_naively(
        facts, query, label_of(query, query.period.zone), ms(query.period.start), ms(query.period.end)
    )
    before: dict[Key, Tally] = {}
    total_before = Tally()
    if query.compare:
        compared = query.period.compared(query.compare)
        others = query.period.compared_spans(query.time_field, query.compare)

        def label(at: int) -> str | None:
            span = others.at(at // 900_000)
            return span.label if span else None

        before, total_before = count_naively(facts, query, label, ms(compared.start), ms(compared.end))
    keys = {*now, *before}
    if query.time_field and len(query.group_by) == 1:
        keys |= {(span_label,) for span_label in spans.labels}
    if not query.group_by:
        keys.add(())
    rows = {row_key: (now.get(row_key, Tally()), before.get(row_key, Tally())) for row_key in keys}
    return rows, (total, total_before), rows


def change(now: Any, before: Any) -> float | None:
    """By how much a value changed."""
    if now is None or not before or isinstance(now, Mapping):
        return None
    return round(float((Fraction(now) - Fraction(before)) / Fraction(before)), 6)


def assert_row(query: Query, row: Row, expected: tuple[Tally, Tally]) -> None:
    """Fail unless a row, or the totals, say what a naive count says."""
    now, before = (values_shown(tally, query) for tally in expected)
    assert {name: plain(cell) for name, cell in row.values.items()} == now, row
    if not query.compare:
        assert row.previous is row.change is None
        return
    assert row.previous is not None
    assert {name: plain(cell) for name, cell in row.previous.items()} == before, row
    if query.change:
        assert row.change == {name: change(now[name], before[name]) for name in query.measures}


def in_order(query: Query, rows: Mapping[Key, tuple[Tally, Tally]]) -> list[Key]:
    """The rows by the query's order."""
    order = query.sorting

    def value(row_key: Key, measure: Measure, currency: str | None) -> Any:
        now, before = (shown(tally, measure, currency) for tally in rows[row_key])
        if order.of_difference and measure is order.column:
            return None if now is None or before is None else now - before  # type: ignore[operator]
        found = change(now, before) if order.of_change and measure is order.column else now
        return 0 if isinstance(found, Mapping) else found

    found = sorted(rows, key=lambda row_key: tuple((part is None, part or "") for part in row_key))
    if not isinstance(order.column, Measure):
        number = query.group_by.index(order.column)
        return sorted_by(found, lambda row_key: row_key[number], is_descending=order.is_descending)
    codes: list[str | None] = [*order.currencies] or [query.currency]
    keys = [(order.column, code) for code in codes]
    counts = [measure for measure in query.measures if not measure.is_money] if order.currencies else []
    for measure, currency in reversed([*keys, *((count, query.currency) for count in counts[:1])]):
        values = {row_key: value(row_key, measure, currency) for row_key in found}
        found = sorted_by(found, values.__getitem__, is_descending=order.is_descending)
    return found


def sorted_by(rows: list[Key], value: Callable[[Key], Any], *, is_descending: bool) -> list[Key]:
    """The rows by a value; those without one come last, either way."""
    valued = [row for row in rows if value(row) is not None]
    others = [row for row in rows if value(row) is None]
    if is_descending:
        return [*sorted(valued, key=lambda row: Reversed(value(row))), *others]
    return [*sorted(valued, key=value), *others]


class Reversed:
    """A value that sorts the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return bool(self.value > other.value)


def assert_answer(facts: StoredFacts, found: AnalyticsAnswer) -> None:
    """Fail unless the whole answer says what a naive count says."""
    query = found.query
    rows, totals, _ = expected_rows(facts, query)
    assert [key(row) for row in found.rows] == in_order(query, rows), query
    for row in found.rows:
        assert_row(query, row, rows[key(row)])
    assert_row(query, found.totals, totals)
    assert found.rows_in_all == len(rows)


@settings(max_examples=examples(2), phases=[Phase.generate], deadline=None)
@given(facts=histories(), asked=st.lists(queries(), min_size=12, max_size=12))
def test_answers_equal_a_naive_count(facts: StoredFacts, asked: list[Query]) -> None:
    """For any facts, fields, filters, zone, period, comparison and order."""
    with facts.stored() as connection:
        for query in asked:
            assert_answer(facts, answer_query(connection, query, is_whole=True))


@settings(max_examples=examples(2), phases=[Phase.generate], deadline=None)
@given(facts=histories(), asked=st.lists(queries(), min_size=5, max_size=5), limit=st.integers(1, 5))
def test_pages_and_pieces_together_equal_the_whole(
    facts: StoredFacts, asked: list[Query], limit: int
) -> None:
    """Each row once and in order, and with each page the totals, the notes and the number of all rows."""
    with facts.stored() as connection:
        for query in asked:
            whole = answer_query(connection, query, is_whole=True)
            # By hours there are hundreds of rows, and each page reads all facts.
            rows_of_page = max(limit, len(whole.rows) // MOST_PAGES)
            pages = all_pages(connection, replace(query, limit=rows_of_page))
            assert [row for page in pages for row in page.rows] == list(whole.rows)
            for page in pages:
                assert (page.totals, page.notes, page.rows_in_all) == (
                    whole.totals, whole.notes, whole.rows_in_all,
                )  # fmt: skip
            head, pieces = stream_query(connection, query)
            assert replace(head, rows_in_all=len(whole.rows)) == replace(whole, rows=[], links={})
            some = list(pieces)
            assert [row for piece in some for row in piece.rows] == list(whole.rows)
            assert {name: of for piece in some for name, of in piece.links.items()} == dict(whole.links)


def all_pages(connection: duckdb.DuckDBPyConnection, query: Query) -> list[AnalyticsAnswer]:
    """The answers of all pages, each by the cursor of the one before."""
    pages = [answer_query(connection, query)]
    while cursor := pages[-1].next_cursor:
        pages.append(answer_query(connection, replace(query, cursor=cursor)))
    return pages
