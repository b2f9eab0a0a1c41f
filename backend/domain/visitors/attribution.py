"""Attribution: the visits of a device, and which of them get the credit for what the visitor does later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar

from backend.domain.clicks.ids import ClickPlace
from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.visitors.device_clock import DeviceClock, with_clock
from backend.domain.visitors.tellings import SaleIdentity

# Periods, each with its start and its end, which is not included. None means no limit.
Times = Sequence[tuple[datetime | None, datetime | None]]
# Limits of what is kept of a device: its first touch and its first identity, and the latest of everything.
TOUCHES_KEPT = 50
DIRECT_VISITS_KEPT = 20
CUSTOMERS_KEPT = 50
CLICK_IDS_KEPT = 50
# The most identities that are kept although they stand between two of the same customer. They say nothing new
# unless another customer's identity arrives late, and a page may identify its visitor each time it loads.
REPEATED_KEPT = 10
_at = attrgetter("at")


@dataclass(frozen=True, slots=True)
class Touch:
    """A visit that came from a link, a campaign or an ad.

    Values that are not known are left out of `utm` and `click_ids`. `received_at` is when the service was
    told; None if that was not noted. `variant` is the part of a split of the link that the visitor was led
    to. `click_at` and `click_mark` name the click on the link, if the visit brought the click's id
    (domain/clicks/ids). A visit `is_named` if a server told of it by the id of its click; its time is then
    the click's.
    """

    at: datetime
    link_id: LinkId | None
    utm: dict[str, str]
    click_ids: dict[str, str]
    received_at: datetime | None = field(default=None, compare=False)
    variant: str | None = None
    click_at: datetime | None = None
    click_mark: int | None = None
    is_named: bool = False

    @property
    def click(self) -> ClickPlace | None:
        """Where the click of the visit is in the ledger, if that is known."""
        if self.click_at is None or self.click_mark is None:
            return None
        return ClickPlace(self.click_at, self.click_mark)

    @property
    def order(self) -> tuple[Any, ...]:
        """What a touch is sorted by: its time and its values (docs/decisions/credit.md)."""
        click = (self.click_at, self.click_mark) if self.click else ()
        utm, click_ids = sorted(self.utm.items()), sorted(self.click_ids.items())
        return self.at, self.link_id or "", utm, click_ids, self.variant or "", click, self.is_named

    def is_same_click(self, other: Touch) -> bool:
        """Whether both are visits that one and the same click led to."""
        return self.click is not None and (self.link_id, self.click) == (other.link_id, other.click)


@dataclass(frozen=True, slots=True)
class DirectVisit:
    """A visit without a source, and when the service was told of it."""

    at: datetime
    received_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ClickId:
    """An ad click id that a device arrived with, and the time it first did."""

    name: str
    value: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Identification:
    """The customer that a device was identified as, and the time from which this holds.

    Without a customer, it says that further identities were told from then on, which were too many to keep:
    until the next one that is kept, the device is nobody's.

    `received_at` is when the service was told, None where that was not noted; `taken_back_at` is when it was
    told that this was wrong. `is_server` says that a server named both the device and the customer. `sale` is
    the record that it follows from, if that may be told again (see domain/visitors/tellings); `replaced_at`
    is when a further telling said something else.
    """

    customer_id: CustomerId | None
    at: datetime
    received_at: datetime | None = field(default=None, compare=False)
    taken_back_at: datetime | None = None
    sale: CallId | None = None
    replaced_at: datetime | None = None
    is_server: bool = False

    @property
    def holds(self) -> bool:
        """Whether it was neither taken back nor replaced."""
        return self.taken_back_at is None and self.replaced_at is None


@dataclass(frozen=True, slots=True)
class Device:
    """A browser, known by its device id: its touches, ad click ids and customers, each list oldest first.

    `clocks` are the clocks it was seen with (see domain/visitors/device_clock), the most recently used one
    last.
    """

    org_id: OrgId
    id: DeviceId
    first_seen_at: datetime
    last_seen_at: datetime
    first_touch: Touch | None = None
    touches: tuple[Touch, ...] = ()
    click_ids: tuple[ClickId, ...] = ()
    customers: tuple[Identification, ...] = ()
    clocks: tuple[DeviceClock, ...] = ()
    direct_visits: tuple[DirectVisit, ...] = ()

    def seen(self, at: datetime, clock: DeviceClock | None) -> Device:
        """A copy of the device that was also seen at this time, with this clock (None: a server tells it)."""
        # Not by dataclasses.replace, which takes twice as long: this is done for every call.
        return Device(
            self.org_id,
            self.id,
            min(self.first_seen_at, at),
            max(self.last_seen_at, at),
            self.first_touch,
            self.touches,
            self.click_ids,
            self.customers,
            self.clocks if clock is None else with_clock(self.clocks, clock),
            self.direct_visits,
        )

    def touched(self, touch: Touch) -> Device:
        """A copy of the device with this touch added. A touch that it has keeps its earliest `received_at`.

        The touch may be older than touches that arrived before it.
        """
        touches = in_order(_each_once(self.touches, touch))
        return replace(
            self,
            first_touch=in_order(_each_once([self.first_touch] if self.first_touch else [], touch))[0],
            touches=tuple(touches[-TOUCHES_KEPT:]),
            click_ids=self._with_click_ids(touch),
        )

    def visited(self, visit: DirectVisit) -> Device:
        """A copy of the device with this direct visit added, in order of time."""
        visits = sorted(_each_once(self.direct_visits, visit), key=_at)
        return replace(self, direct_visits=tuple(visits[-DIRECT_VISITS_KEPT:]))

    def identified(
        self,
        customer_id: CustomerId,
        at: datetime,
        received_at: datetime | None = None,
        *,
        is_server: bool = False,
    ) -> Device:
        """A copy of the device that is identified as this customer from `at` on, by a server if so."""
        new = Identification(customer_id, at, received_at, is_server=is_server)
        return self._with_customers(_bounded(_each_once(self.customers, new)))

    def identified_by_sale(self, sale: CallId, identities: Iterable[SaleIdentity]) -> Device:
        """A copy of the device whose identities of this sale are those among these that name the device.

        An identity that the service was told of before the customer was taken back is taken back as well.
        """
        taken_back = {
            (old.customer_id, old.taken_back_at)
            for old in self.customers
            if old.customer_id is not None and old.taken_back_at
        }
        of_sale = [_of_sale(sale, new, taken_back) for new in identities if new.device_id == self.id]
        others = [identity for identity in self.customers if identity.sale != sale]
        customers = _bounded([*others, *of_sale])
        return self if customers == self.customers else self._with_customers(customers)

    def _with_customers(self, customers: tuple[Identification, ...]) -> Device:
        # Not by dataclasses.replace, as in `seen`.
        return Device(
            self.org_id,
            self.id,
            self.first_seen_at,
            self.last_seen_at,
            self.first_touch,
            self.touches,
            self.click_ids,
            customers,
            self.clocks,
            self.direct_visits,
        )

    def has_other_history(self, before: Device) -> bool:
        """Whether its visits or customers differ from those of `before`."""
        return (self.touches, self.direct_visits, self.customers, self.first_touch) != (
            before.touches,
            before.direct_visits,
            before.customers,
            before.first_touch,
        )

    def taken_back(self, customer_id: CustomerId, at: datetime) -> Device:
        """A copy of the device whose identities as this customer were taken back at `at`."""
        customers = [
            replace(identity, taken_back_at=identity.taken_back_at or at)
            if identity.customer_id == customer_id
            else identity
            for identity in self.customers
        ]
        return replace(self, customers=tuple(customers))

    @property
    def standing(self) -> tuple[Identification, ...]:
        """The identities that hold: those that were neither taken back nor replaced."""
        return tuple(identity for identity in self.customers if identity.holds)

    def during(self, times: Times) -> Device:
        """A copy of the device with only what it did in these periods. All of its identities stay."""
        return self._that_did(lambda at: is_in(at, times))

    def outside(self, times: Times) -> Device:
        """A copy of the device without what it did in these periods. All of its identities stay."""
        return self._that_did(lambda at: not is_in(at, times))

    def _that_did(self, is_kept: Callable[[datetime], bool]) -> Device:
        touches = tuple(touch for touch in self.touches if is_kept(touch.at))
        first = self.first_touch if self.first_touch and is_kept(self.first_touch.at) else None
        return replace(
            self,
            first_touch=first or next(iter(touches), None),
            touches=touches,
            click_ids=tuple(click_id for click_id in self.click_ids if is_kept(click_id.at)),
            direct_visits=tuple(visit for visit in self.direct_visits if is_kept(visit.at)),
        )

    def _with_click_ids(self, touch: Touch) -> tuple[ClickId, ...]:
        first_at = {(click_id.name, click_id.value): click_id.at for click_id in self.click_ids}
        for item in touch.click_ids.items():
            first_at[item] = min(first_at.get(item, touch.at), touch.at)
        click_ids = sorted((ClickId(*item, at) for item, at in sorted(first_at.items())), key=_at)
        return tuple(click_ids[-CLICK_IDS_KEPT:])


def is_in(at: datetime, times: Times) -> bool:
    """Whether a time is in one of these periods."""
    return any((begin is None or begin <= at) and (end is None or at < end) for begin, end in times)


def in_order(touches: Iterable[Touch]) -> list[Touch]:
    """The touches by time. Those of one moment are sorted by their values, not by their arrival."""
    ordered = sorted(touches, key=_at)
    if any(one.at == other.at for one, other in pairwise(ordered)):
        ordered.sort(key=attrgetter("order"))
    return ordered


_Fact = TypeVar("_Fact", Touch, DirectVisit, Identification)


def _each_once(facts: Iterable[_Fact], new: _Fact) -> list[_Fact]:
    """These facts and a new one. If the new one is among them, the telling that arrived first is kept."""
    kept: list[_Fact] = list(facts)
    earliest = new
    for number, fact in enumerate(kept):
        if fact.at == new.at and fact == new:
            earliest = min(fact, new, key=_told_at)
            del kept[number]
            break
    kept.append(earliest)
    return kept


def _told_at(fact: Touch | DirectVisit | Identification) -> datetime:
    """When the service was told of the fact; if that was not noted, when it happened."""
    return fact.received_at or fact.at


def _of_sale(
    sale: CallId, identity: SaleIdentity, taken_back: Iterable[tuple[CustomerId, datetime | None]]
) -> Identification:
    """The identity that a sale gives its device. It is taken back if its customer was, after it was told."""
    _, customer_id, at, told_at, received_at, replaced_at, is_server = identity
    times = (back for whose, back in taken_back if back and whose == customer_id and told_at <= back)
    back = min(times, default=None)
    return Identification(customer_id, at, received_at, back, sale, replaced_at, is_server)


def _bounded(identifications: Sequence[Identification]) -> tuple[Identification, ...]:
    """The identities in order, without the oldest repeated ones, and at most CUSTOMERS_KEPT of them.

    Where others are left out, an identity without a customer says since when.
    """
    gap = next((identity for identity in identifications if identity.customer_id is None), None)
    told = sorted((identity for identity in identifications if identity.customer_id is not None), key=_order)
    if len(told) > REPEATED_KEPT:
        repeated = [
            number
            for number in range(1, len(told) - 1)
            if _is_repeated(*told[number - 1 : number + 2])
            and (gap is None or not told[number - 1].at <= gap.at <= told[number + 1].at)
        ]
        left_out = set(repeated[:-REPEATED_KEPT])
        told = [identity for number, identity in enumerate(told) if number not in left_out]
    # The first one is known to be the first, unless nobody knows who had the device before it.
    if gap and told and gap.at < told[0].at:
        return (gap, *told[-CUSTOMERS_KEPT:])
    if len(told) > CUSTOMERS_KEPT:
        first, *too_many = told[: 1 - CUSTOMERS_KEPT]
        told = [first, *told[1 - CUSTOMERS_KEPT :]]
        gap = _gap(first, too_many, gap)
    return (told[0], *sorted((gap, *told[1:]), key=_order)) if gap and told else tuple(told)


def _order(identity: Identification) -> tuple[datetime, str]:
    return identity.at, identity.customer_id or ""


def _gap(
    first: Identification, too_many: Iterable[Identification], before: Identification | None
) -> Identification | None:
    """What stands for identities that are left out behind the first one, and for those left out before."""
    unknown = (
        identity
        for identity in too_many
        if identity.holds and not (first.holds and identity.customer_id == first.customer_id)
    )
    earliest = next(unknown, None)
    if earliest is None or (before and before.at <= earliest.at):
        return before
    return Identification(None, earliest.at, earliest.received_at)


def _is_repeated(before: Identification, identity: Identification, after: Identification) -> bool:
    """Whether the identities before and after it are alike, and it did not arrive earlier than the first."""
    return _told_at(before) <= _told_at(identity) and _claim(before) == _claim(identity) == _claim(after)


def _claim(identity: Identification) -> tuple[object, ...]:
    return identity.customer_id, identity.taken_back_at, identity.replaced_at, identity.is_server


@dataclass(frozen=True, slots=True)
class Credit:
    """The touches that a record keeps: those that the models `first` and `last_non_direct` name by device."""

    first: Touch | None = None
    last: Touch | None = None

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Both touches, the first one first; one if they are the same."""
        kept = [touch for touch in (self.first, self.last) if touch]
        return tuple(kept[:1] if self.first == self.last else kept)
