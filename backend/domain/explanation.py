"""Explains the credit of one sale: what was known, in order, and what each of it came to, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import product

from backend.domain.attribution import Device, DirectVisit, Identification, Touch
from backend.domain.credit import PARTS, CreditShare, share_credit
from backend.domain.credit_rules import CreditRules, CreditTo, Model
from backend.domain.histories import SaleFacts
from backend.domain.ids import CustomerId, DeviceId
from backend.domain.links import Link

# A customer may have many devices, and each of them many visits.
MOST_STEPS = 200


class StepKind(StrEnum):
    """What a step tells of."""

    IDENTITY = "identity"
    DIRECT_VISIT = "direct_visit"
    TOUCH = "touch"
    IDENTITY_TAKEN_BACK = "identity_taken_back"
    SALE = "sale"
    REFUND = "refund"


@dataclass(frozen=True, slots=True)
class CreditStep:
    """Something that was known: when it happened, and a sentence that says what it came to.

    `touch` and its `share` of the sale are a touch's; `refund` is the number of a refund among the sale's.
    """

    kind: StepKind
    at: datetime
    in_words: str
    device_id: DeviceId | None = None
    customer_id: CustomerId | None = None
    touch: Touch | None = None
    share: CreditShare[Touch] | None = None
    refund: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What each touch gets by these rules; no shares if the sale had not been told by their moment."""

    rules: CreditRules
    customer_id: CustomerId | None
    shares: Sequence[CreditShare[Touch]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sale is credited as it is: the steps, oldest first, the verdict, and those of all other models.

    `left_out` are older steps that are not told, since there are too many.
    """

    steps: tuple[CreditStep, ...]
    verdict: Verdict
    others: tuple[Verdict, ...]
    left_out: int = 0


def explain(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Explanation:
    """Explain the credit of a sale. `devices` are its own and all of its customer."""
    verdict = _verdict(sale, devices, rules)
    steps = sorted(_Teller(sale, devices, verdict).steps(), key=lambda each: (each.at, _ORDER[each.kind]))
    first = max(len(steps) - MOST_STEPS, 0)
    others = (replace(rules, to=to, model=model) for to, model in product(CreditTo, Model))
    return Explanation(
        tuple(each for number, each in enumerate(steps) if number >= first or each.share),
        verdict,
        tuple(_verdict(sale, devices, each) for each in others if each != rules),
        sum(1 for each in steps[:first] if not each.share),
    )


_ORDER = {kind: number for number, kind in enumerate(StepKind)}


def _verdict(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Verdict:
    (credited,) = share_credit([sale], devices, rules)
    return Verdict(rules, credited.customer_id, credited.shares)


class _Teller:
    """Tells of a sale and its devices, one step after another, in no order."""

    def __init__(self, sale: SaleFacts[Touch], devices: Sequence[Device], verdict: Verdict) -> None:
        self._sale = sale
        self._devices = devices
        self._verdict = verdict
        self._rules = verdict.rules
        self._shares = {id(each.touch): each for each in verdict.shares if each.touch}
        # In equal parts, every touch that counts gets one.
        self._counting = self._touches(replace(self._rules, model=Model.LINEAR))
        self._of_any_age = self._touches(replace(self._rules, model=Model.LINEAR, lookback_days=None))

    def _touches(self, rules: CreditRules) -> set[int]:
        return {id(each.touch) for each in _verdict(self._sale, self._devices, rules).shares if each.touch}

    def steps(self) -> Iterator[CreditStep]:
        """Everything up to the sale, who its devices were at any time, the sale, and what was paid back."""
        for device in self._devices:
            for visit in device.direct_visits:
                if visit.at <= self._sale.at:
                    yield CreditStep(StepKind.DIRECT_VISIT, visit.at, self._of_direct(visit), device.id)
            for number, each in enumerate(device.customers):
                yield from self._identity(device, each, is_first=number == 0)
        for device_id, touch in self._known_touches():
            if touch.at <= self._sale.at and not self._is_told_otherwise(touch):
                share = self._shares.get(id(touch))
                words = self._of_touch(touch, share, device_id)
                yield CreditStep(StepKind.TOUCH, touch.at, words, device_id, touch=touch, share=share)
        yield self._of_sale()
        for number, refund in enumerate(self._sale.refunds):
            known = self._rules.knows(refund.received_at, refund.received_at)
            yield CreditStep(
                StepKind.REFUND, refund.received_at, _REFUND if known else _UNKNOWN, refund=number
            )

    def _known_touches(self) -> Iterator[tuple[DeviceId | None, Touch]]:
        for device in self._devices:
            first = device.first_touch
            if first and first not in device.touches:
                yield device.id, first
            yield from ((device.id, each) for each in device.touches)
        own = [each for each in self._devices if each.id == self._sale.device_id]
        times = {touch.at for each in own for touch in (*each.touches, each.first_touch) if touch}
        kept = (touch for _, _, touch, _ in self._sale.copies if touch)
        yield from ((self._sale.device_id, each) for each in kept if each.at not in times)

    def _is_told_otherwise(self, touch: Touch) -> bool:
        """Whether a server told of this visit by its click, and another telling of the same one counts."""
        if not touch.is_named or id(touch) in self._of_any_age:
            return False
        return any(
            each.is_same_click(touch) for _, each in self._known_touches() if id(each) in self._of_any_age
        )

    def _of_touch(self, touch: Touch, share: CreditShare[Touch] | None, device_id: DeviceId | None) -> str:
        if not self._rules.knows(touch.at, touch.received_at):
            return _UNKNOWN
        if share:
            return f"It gets {percent(share.parts)} of the sale."
        if id(touch) in self._counting:
            return "It counts, but by these rules others get the credit."
        if id(touch) in self._of_any_age:
            return f"It was more than {self._rules.lookback_days} days before the sale, so it does not count."
        if self._rules.to is CreditTo.DEVICE and device_id != self._sale.device_id:
            return "It was on another device of the customer, and credit goes by device: it does not count."
        return "Its device was another customer's then, so it does not count."

    def _of_direct(self, visit: DirectVisit) -> str:
        if not self._rules.knows(visit.at, visit.received_at):
            return _UNKNOWN
        if self._rules.model is Model.LAST:
            return "A direct visit. If it is the last one, nobody gets the credit."
        return "A direct visit, to which these rules give nothing."

    def _identity(self, device: Device, each: Identification, *, is_first: bool) -> Iterator[CreditStep]:
        known = self._rules.knows(each.at, each.received_at)
        words = f"From here on the device is the customer {each.customer_id}'s"
        words += ", and so is what it did before." if is_first else "."
        back = each.taken_back_at
        holds = back is None or not self._rules.knows(back, back)
        if known and not holds:
            words = f"The device was told to be the customer {each.customer_id}'s, which was taken back."
        words = words if known else _UNKNOWN
        yield CreditStep(StepKind.IDENTITY, each.at, words, device.id, each.customer_id)
        if back:
            words = f"It was taken back that the device is the customer {each.customer_id}'s."
            kind = StepKind.IDENTITY_TAKEN_BACK
            yield CreditStep(kind, back, _UNKNOWN if holds else words, device.id, each.customer_id)

    def _of_sale(self) -> CreditStep:
        sale, customer_id = self._sale, self._verdict.customer_id
        words = [self._whose()]
        if sale.device_id is None:
            words.append("A server told it, and no device.")
        if not self._verdict.shares:
            words.append(_UNKNOWN)
        elif all(each.touch is None for each in self._verdict.shares):
            words.append("No touch gets the credit.")
        elif nobodys := sum(each.parts for each in self._verdict.shares if each.touch is None):
            words.append(f"No touch gets {percent(nobodys)} of it.")
        return CreditStep(StepKind.SALE, sale.at, " ".join(words), sale.device_id, customer_id)

    def _whose(self) -> str:
        told, found = self._sale.customer_id, self._verdict.customer_id
        if told is not None and told == found:
            return f"It is the sale of the customer {told}, of whom it was told."
        if told is not None:
            whose = f"it counts for {found}" if found is not None else "nobody's customer is known"
            return f"It was told of the customer {told}, which was taken back: {whose}."
        if found is not None:
            return f"It is the sale of the customer {found}, whose device it was."
        return "No customer is known."


_UNKNOWN = "The service was told only after the moment that is asked about, so it does not count."
_REFUND = "It was paid back, and taken from each touch by what that has of the sale."


def touch_in_words(touch: Touch, link: Link | None) -> str:
    """What a visit came from, such as "A visit from the link Spring, utm_source=mail"."""
    named = [f"the link {link.link_name}" if link else "a link that is gone"] if touch.link_id else []
    if touch.variant:
        named.append(f"its variant {touch.variant}")
    named += [f"{name}={value}" for name, value in touch.utm.items()]
    named += [f"an ad ({name})" for name in touch.click_ids]
    return "A visit from " + ", ".join(named)


def percent(parts: int) -> str:
    """So many parts of a sale in words."""
    share = 100 * parts / PARTS
    return "all" if parts == PARTS else f"{share:.2f}".rstrip("0").rstrip(".") + " %"
