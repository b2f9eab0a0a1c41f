"""Funnels in SQL equal the definition in domain/analytics/funnels for any history, group by group."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from duckdb import DuckDBPyConnection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.funnels.answer import FunnelAnswer, StepTimes, stopped
from backend.domain.analytics.funnels.funnel import Funnel, FunnelQuery, FunnelStep, FunnelStepKind
from backend.domain.analytics.funnels.people import FunnelGroupKey, FunnelPart
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Filter, Not, Prefix
from backend.domain.ids import DeviceId
from backend.domain.sales.credit_rules import CreditTo
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.tellings import Telling
from backend.storage.analytics.funnels.answer import answer_funnel
from backend.storage.analytics.funnels.singles import find_funnel_people
from backend.storage.columns.tables.staged import milliseconds
from tests.examples import examples
from tests.storage.analytics.credited_histories import Told, at, device, histories, sale, touch
from tests.storage.analytics.funnels.naive_funnels import KnownLink, NaiveFunnel, Stored
from tests.storage.analytics.tables import tables

Figures = dict[tuple[str | None, RowKind | None], list[StepTimes]]
CAMPAIGNS = st.sampled_from([None, "spring", "summer"])
GROUPED = (Field.CAMPAIGN, Field.LINK, Field.TAG, Field.COUNTRY, Field.VARIANT)
LINKS = st.dictionaries(
    st.sampled_from(["l", "M", "é"]),
    st.builds(KnownLink, CAMPAIGNS, st.lists(st.sampled_from(["red", "blue"]), unique=True)),
)
COUNTRIES = st.dictionaries(
    st.tuples(st.sampled_from(["l", "M", "é"]), st.integers(0, 5).map(lambda day: at(24 * day))),
    st.sampled_from(["DE", "FR", None]),
)
VALUES = {
    Field.CAMPAIGN: [None, "spring", "summer", "phone0"],
    Field.LINK: [None, "l", "M"],
    Field.TAG: [None, "red", "blue"],
    Field.COUNTRY: [None, "DE", "FR"],
    Field.VARIANT: [None, "b"],
    Field.EVENT: [None, "signup", "other"],
}


@st.composite
def filters(draw: Any, kind: FunnelStepKind) -> dict[Field, Filter]:
    """Filters that a step of this kind may have."""
    possible = [name for name in VALUES if name is not Field.EVENT or kind is FunnelStepKind.EVENT]
    chosen: dict[Field, Filter] = {}
    for name in draw(st.lists(st.sampled_from(possible), max_size=2, unique=True)):
        values = st.frozensets(st.sampled_from(VALUES[name]), min_size=1)
        begins = st.sampled_from(["s", "r", "D", "l"]).map(Prefix)
        chosen[name] = draw(values | values.map(Not) | begins)
    return chosen


@st.composite
def steps(draw: Any) -> FunnelStep:
    """A step, most without filters."""
    kind = draw(st.sampled_from(FunnelStepKind))
    name = draw(st.sampled_from([None, "signup", "other"])) if kind is FunnelStepKind.EVENT else None
    return FunnelStep(kind, name, draw(filters(kind)) if draw(st.integers(0, 2)) == 0 else {})


@st.composite
def funnels(draw: Any) -> Funnel:
    """A funnel of any steps."""
    chosen = draw(st.lists(steps(), min_size=2, max_size=4))
    is_ordered = draw(st.booleans()) or any(step in chosen[:number] for number, step in enumerate(chosen))
    return Funnel(
        steps=chosen,
        by=draw(st.sampled_from(CreditTo)),
        within_days=draw(st.integers(1, 5)),
        is_ordered=is_ordered,
        group_by=draw(st.none() | st.sampled_from(GROUPED)),
    )


def asked(connection: DuckDBPyConnection, funnel: Funnel, first: float, last: float) -> FunnelAnswer:
    """The answer for attempts that begin in these hours."""
    period = QueryPeriod(at(first), at(last), UTC)
    return answer_funnel(connection, FunnelQuery(funnel=funnel, period=period, now=at(9_000)))


def found(answer: FunnelAnswer) -> Figures:
    """The figures of its groups, or of all people."""
    if answer.query.funnel.group_by:
        return {(group.value, group.kind): list(group.steps) for group in answer.groups}
    return {(None, None): list(answer.steps)}


def keys_of(connection: DuckDBPyConnection) -> dict[tuple[str, str], int]:
    """What tells records of one time apart."""
    rows = connection.execute("SELECT kind, id, key FROM records").fetchall()
    return {(kind, own_id): key for kind, own_id, key in rows}


@settings(max_examples=examples(2), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_funnels_equal_the_domain_s(data: st.DataObject) -> None:
    """For any history of devices and customers, any steps, filters and groups."""
    with tables() as connection:
        stored = Stored(data.draw(histories()), data.draw(LINKS), data.draw(COUNTRIES))
        stored.write(connection)
        for _ in range(3):
            funnel = data.draw(funnels())
            first, last = data.draw(st.sampled_from([(0, 1_000), (12, 60), (48, 72)]))
            period = milliseconds(at(first)), milliseconds(at(last))
            naive = NaiveFunnel(stored, funnel, *period, keys_of(connection)).figures()
            answer = asked(connection, funnel, first, last)
            assert found(answer) == naive
            assert_people_are_as_many(connection, answer)


def assert_people_are_as_many(connection: DuckDBPyConnection, answer: FunnelAnswer) -> None:
    """Those who stopped at the first step, and of the last group those who did it, are as many as counted."""
    query, steps = answer.query, answer.steps
    people, total = find_funnel_people(connection, query, FunnelPart(0, stopped=True), 100, 0)
    assert (len(people), total) == (stopped(steps, 0), stopped(steps, 0))
    assert all(len(person.times) == 1 for person in people)
    for group in answer.groups[-1:]:
        part = FunnelPart(0, group=FunnelGroupKey(group.value, group.kind))
        people, total = find_funnel_people(connection, query, part, 100, 0)
        assert (len(people), total) == (group.steps[0].count, group.steps[0].count)


def test_people_have_their_names_and_what_they_did() -> None:
    """A customer by their id, a device by its own; the order of who bought; pages go on where they end."""
    own, other = device("phone", touch(1)), device("laptop", touch(2))
    telling = Telling[Touch](at(30), at(30), DeviceId("phone"), None)
    told = Told([own, other], [sale("s", telling)], [[]])
    steps = (FunnelStep(FunnelStepKind.CLICK), FunnelStep(FunnelStepKind.CONVERSION))
    with tables() as connection:
        told.write(connection)
        query = asked(connection, Funnel(steps=steps, within_days=3), 0, 100).query
        people, total = find_funnel_people(connection, query, FunnelPart(0), 10, 0)
        assert ([person.device_id for person in people], total) == (["laptop", "phone"], 2)
        [buyer], total = find_funnel_people(connection, query, FunnelPart(0), 10, 1)
        assert (buyer.device_id, buyer.times, total) == ("phone", [at(1), at(30)], 2)
        [looker], _ = find_funnel_people(connection, query, FunnelPart(0, stopped=True), 10, 0)
        assert (looker.device_id, looker.times) == ("laptop", [at(2)])


def test_of_attempts_that_get_as_far_the_earliest_counts() -> None:
    """Which is the one that takes longest, in order and not."""
    own = device("phone", touch(1), touch(25))
    telling = Telling[Touch](at(30), at(30), DeviceId("phone"), None)
    told = Told([own], [sale("s", telling)], [[]])
    steps = (FunnelStep(FunnelStepKind.CLICK), FunnelStep(FunnelStepKind.CONVERSION))
    with tables() as connection:
        told.write(connection)
        for is_ordered in (True, False):
            funnel = Funnel(steps=steps, within_days=3, is_ordered=is_ordered)
            _, last = asked(connection, funnel, 0, 100).steps
            assert (last.count, last.median) == (1, 29 * 3_600_000)
