"""Rows by properties of events: the most frequent values have rows, and all others are one."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.answer import Row, RowKind
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import TIMES, Field, Query, QueryField
from backend.domain.sales.credit_rules import CreditRules, Model
from backend.storage.analytics.answers.query import answer_query
from backend.storage.analytics.measures import frequent_values
from tests.examples import examples
from tests.storage.analytics.queried_facts import Install, Sale, StoredFacts
from tests.storage.analytics.random_facts import (
    DAYS,
    FIRST,
    LINKS,
    METADATA,
    MOMENTS,
    PROPERTIES,
    TAGS,
    TOUCHES,
)

MOST = 2
OTHERS = RowKind.OTHER_VALUES
EVENTS = st.builds(
    Sale,
    st.just("event"),
    MOMENTS,
    name=st.just("signup"),
    touches=st.lists(TOUCHES, max_size=2).map(tuple),
    metadata=METADATA,
)
FACTS = st.builds(StoredFacts, LINKS, st.just(TAGS), sales=st.lists(EVENTS, min_size=6, max_size=12))
OTHER_FIELDS = st.lists(
    st.sampled_from([field for field in Field if field not in {*TIMES, Field.VARIANT}]), max_size=2
)


@settings(
    max_examples=examples(4),
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(facts=FACTS, fields=OTHER_FIELDS, model=st.sampled_from(Model))
def test_rare_values_are_one_row(
    monkeypatch: pytest.MonkeyPatch, facts: StoredFacts, fields: list[Field], model: Model
) -> None:
    """The totals stay, each figure is in the row of its value or of all others, and a note says so."""
    by: tuple[QueryField, ...] = tuple(dict.fromkeys(fields))
    period = QueryPeriod(FIRST, FIRST + timedelta(days=DAYS), ZoneInfo("UTC"))
    query = Query(
        period=period,
        group_by=(*by, *PROPERTIES),
        measures=(Measure.EVENTS,),
        rules=CreditRules(model=model),
    )
    with facts.stored() as connection:
        all_rows = answer_query(connection, query, is_whole=True)
        monkeypatch.setattr(frequent_values, "_MOST_VALUES", MOST)
        answer = answer_query(connection, query, is_whole=True)
        monkeypatch.undo()
    told = [sale.metadata or {} for sale in facts.sales]
    sizes = Counter(tuple(metadata.get(name.property_name) for name in PROPERTIES) for metadata in told)
    sizes.pop((None, None), None)
    in_order = sorted(sizes, key=lambda key: (-sizes[key], *((text is not None, text or "") for text in key)))
    expected: defaultdict[tuple[object, ...], float] = defaultdict(float)
    for row in all_rows.rows:
        own, values = row.group[: len(by)], row.group[len(by) :]
        is_rare = values in in_order[MOST:]
        expected[(*own, None, None, OTHERS) if is_rare else (*row.group, row.kind)] += _events(row)
    found = {(*row.group, row.kind): _events(row) for row in answer.rows}
    assert found == pytest.approx(dict(expected), abs=1e-5)
    assert answer.totals.values == all_rows.totals.values
    is_told = any("kind other_values" in note for note in answer.notes)
    assert is_told == any(row.kind is OTHERS for row in answer.rows) == (len(sizes) > MOST)


def test_installs_beside_values_of_events() -> None:
    """Installs have no properties, and no rows apart by them."""
    period = QueryPeriod(FIRST, FIRST + timedelta(days=DAYS), ZoneInfo("UTC"))
    measures = (Measure.EVENTS, Measure.INSTALLS)
    query = Query(period=period, group_by=PROPERTIES[:1], measures=measures)
    at = int(FIRST.timestamp() * 1000)
    with StoredFacts(installs=[Install(at, None)]).stored() as connection:
        answer = answer_query(connection, query)
    assert [(row.group, row.values[Measure.INSTALLS]) for row in answer.rows] == [((None,), 1)]


def _events(row: Row) -> float:
    value = row.values[Measure.EVENTS]
    assert isinstance(value, int | float)
    return value
