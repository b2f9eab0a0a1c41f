"""The single clicks and sales behind numbers: all that a query counts, each once, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.answer import plain_count
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query
from backend.storage.analytics.answers.query import answer_query
from backend.storage.analytics.question import Facts
from backend.storage.analytics.singles.clicks import ClickPageStart, SingleClick, SingleClicks
from backend.storage.analytics.singles.sales import SingleSales
from backend.system.clock import utc_now
from tests.examples import examples
from tests.storage.analytics.queried_facts import StoredFacts
from tests.storage.analytics.random_facts import PROPERTIES, histories, queries


@settings(max_examples=examples(2), phases=[Phase.generate], deadline=None)
@given(facts=histories(), asked=st.lists(queries(), min_size=5, max_size=5))
def test_singles_add_up_to_the_number(facts: StoredFacts, asked: list[Query]) -> None:
    """For any facts and filters: clicks page by page, but those that were added up, and parts of sales,
    leads and events."""
    single_clicks = [click for click in facts.clicks if click.kind]
    with facts.stored() as connection, replace(facts, clicks=single_clicks).stored() as of_single_clicks:
        moment = Facts(connection, None, utc_now(), Path(), [field.property_name for field in PROPERTIES])
        for query in asked:
            measures = (
                Measure.CLICKS,
                Measure.NOT_COUNTED,
                Measure.CONVERSIONS,
                Measure.REVENUE,
                Measure.LEADS,
                Measure.EVENTS,
            )
            plain = replace(query, group_by=(), order=None, compare=None, change=False, measures=measures)
            total = answer_query(connection, plain).totals.values
            clicks = answer_query(of_single_clicks, plain).totals.values
            for measure in (Measure.CLICKS, Measure.NOT_COUNTED):
                singles = all_clicks(moment, replace(plain, measures=(measure,)))
                assert len(singles) == clicks[measure]
                assert {single.reason is None for single in singles} <= {measure is Measure.CLICKS}
                assert singles == sorted(singles, key=lambda single: single.at, reverse=True)
            for measure in (Measure.CONVERSIONS, Measure.LEADS, Measure.EVENTS):
                told = SingleSales(replace(plain, measures=(measure,)), 1000).answer(moment)
                assert len(told.sales) == told.total
                parts = sum((sale.part for sale in told.sales), Fraction())
                assert plain_count(parts) == total[measure]


def all_clicks(facts: Facts, query: Query) -> list[SingleClick]:
    """The clicks of all pages, three on each."""
    place: ClickPageStart | None = None
    found: list[SingleClick] = []
    while True:
        page = SingleClicks(query, 3, place).answer(facts)
        found += page.clicks
        place = page.next_place
        if place is None:
            return found
