"""What a funnel asks: which steps, of whom, within how long (decisions, "funnels")."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import combinations

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.analytics.event_properties import BEGIN, check_marked
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, Field, Filter, QueryField, is_of_events
from backend.domain.errors import InvalidField
from backend.domain.sales.credit_rules import CreditRules, CreditTo

LEAST_STEPS, MOST_STEPS = 2, 8
DEFAULT_WITHIN_DAYS, MOST_WITHIN_DAYS = 30, 365
# Those with most people in their first step are answered.
MOST_GROUPS = 100
DAY_MS = 86_400_000


class FunnelStepKind(StrEnum):
    """What somebody does in a step."""

    CLICK = "click"
    LEAD = "lead"
    EVENT = "event"
    CONVERSION = "conversion"


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """What a fact must be for a step: of this kind, for an event of this name, and one that passes filters.

    Leads, events and conversions have the fields of the touch that gets the credit for them.
    """

    kind: FunnelStepKind
    name: str | None = None
    filters: Mapping[QueryField, Filter] = field(default_factory=dict)

    def has(self, field: QueryField) -> bool:
        """Whether it can be filtered, and as the first step grouped, by this field."""
        if is_of_events(field):
            return self.kind is FunnelStepKind.EVENT
        return field in LINK_FIELDS | CLICK_FIELDS

    @property
    def fields_in_words(self) -> str:
        """All of these fields."""
        names = [name.value for name in Field if self.has(name)]
        return ", ".join([*names, *([f"{BEGIN}NAME"] if self.has(Field.EVENT) else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Steps that somebody does: a device or, with `by` customer, a customer with all devices.

    The first step begins an attempt, and the others belong to it if they are at most `within_days` later. If
    the steps are not `is_ordered`, they may also be as long before the first one, and in any order. Only what
    links within `reach` led to can be a step, whatever the filters say; None: everything.
    """

    steps: Sequence[FunnelStep]
    by: CreditTo = CreditTo.DEVICE
    within_days: int = DEFAULT_WITHIN_DAYS
    is_ordered: bool = True
    group_by: QueryField | None = None
    reach: LinkReach | None = None

    def __post_init__(self) -> None:
        """Raises InvalidField, which names the field and the rule."""
        if not LEAST_STEPS <= len(self.steps) <= MOST_STEPS:
            raise InvalidField("steps", f"must have from {LEAST_STEPS} to {MOST_STEPS} entries")
        if not 1 <= self.within_days <= MOST_WITHIN_DAYS:
            raise InvalidField("within_days", f"must be a whole number from 1 to {MOST_WITHIN_DAYS}")
        for number, step in enumerate(self.steps):
            _check_step(f"steps[{number}]", step)
        if self.group_by is not None and not self.steps[0].has(self.group_by):
            possible = self.steps[0].fields_in_words
            raise InvalidField("group_by", f"must be a field of the first step: {possible}")
        if not self.is_ordered:
            _check_different(self.steps)

    @property
    def within_ms(self) -> int:
        """The milliseconds that an attempt may take."""
        return self.within_days * DAY_MS

    @property
    def rules(self) -> CreditRules:
        """How credit is given for leads, events and conversions whose steps name fields of touches."""
        return CreditRules(self.by)

    @property
    def credited_fields(self) -> frozenset[QueryField]:
        """The fields of touches that are asked of leads, events and conversions."""
        asked = {
            name for step in self.steps if step.kind is not FunnelStepKind.CLICK for name in step.filters
        }
        if self.group_by and self.steps[0].kind is not FunnelStepKind.CLICK:
            asked.add(self.group_by)
        if self.reach and any(step.kind is not FunnelStepKind.CLICK for step in self.steps):
            asked.add(Field.LINK)
        return frozenset(name for name in asked if not is_of_events(name))

    @property
    def asked_fields(self) -> frozenset[QueryField]:
        """All fields that are filtered or grouped by."""
        asked = {name for step in self.steps for name in step.filters}
        return frozenset(asked | ({self.group_by} if self.group_by else set()))

    def check_marked(self, marked: Collection[str]) -> None:
        """Raise InvalidField if it names a property of events that the organization has not marked."""
        check_marked([self.group_by] if self.group_by else [], {}, marked)
        for number, step in enumerate(self.steps):
            try:
                check_marked([], step.filters, marked)
            except InvalidField as error:
                raise InvalidField(f"steps[{number}].{error.field}", error.rule) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelQuery:
    """A funnel, asked of attempts that begin in a period. `now` is when it is asked."""

    funnel: Funnel
    period: QueryPeriod
    now: datetime


def _check_step(shown: str, step: FunnelStep) -> None:
    if step.name is not None and step.kind is not FunnelStepKind.EVENT:
        raise InvalidField(f"{shown}.name", "is the name of an event, which only a step of kind event has")
    for name in step.filters:
        if not step.has(name):
            possible = step.fields_in_words
            raise InvalidField(f"{shown}.filters.{name}", f"can't be filtered by; possible are {possible}")


def _check_different(steps: Sequence[FunnelStep]) -> None:
    """Raise InvalidField for two steps that are the same: in no order, one fact would be both."""
    for (one, first), (other, second) in combinations(enumerate(steps), 2):
        if first == second:
            rule = f"is the same as steps[{one}]: steps in any order must differ"
            raise InvalidField(f"steps[{other}]", rule)
