"""Explains the credit of one sale: the facts that were known, in order, and in words what each led to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from itertools import product

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.links.links import Link
from backend.domain.sales.credit import CreditShare, share_credit
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, DirectVisit, Identification, Touch

# A customer may have many devices, and each of them many visits.
MOST_STEPS = 200


class StepKind(StrEnum):
    """What a step of an explanation is about."""

    IDENTITY = "identity"
    DIRECT_VISIT = "direct_visit"
    TOUCH = "touch"
    IDENTITY_TAKEN_BACK = "identity_taken_back"
    SALE = "sale"
    REFUND = "refund"


@dataclass(frozen=True, slots=True)
class CreditStep:
    """A fact that was known: when it happened, and a sentence that says what it led to.

    A step about a touch has the `touch` and its `share` of the sale. A step about a refund has the number of
    the `refund` among those of the sale.
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
    """The share of each touch by these rules. There are none if the sale was unknown as of the rules' time.

    `amount` is the sale's, and `refunded` what was known to be paid back of it, both in whole units.
    """

    rules: CreditRules
    customer_id: CustomerId | None
    amount: int
    refunded: int
    shares: Sequence[CreditShare[Touch]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sale is credited as it is: the steps, oldest first, the verdict, and those of all other models.

    `left_out` is the number of older steps that are left out, since there are too many.
    """

    steps: tuple[CreditStep, ...]
    verdict: Verdict
    others: tuple[Verdict, ...]
    left_out: int = 0


def explain(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Explanation:
    """Explain the credit of a sale. `devices` are its own and all of its customer."""
    verdict = _verdict(sale, devices, rules)
    devices = [device for device in devices if _concerns(device, sale, verdict)]
    steps = sorted(_StepWriter(sale, devices, verdict).steps(), key=_place)
    first = max(len(steps) - MOST_STEPS, 0)
    others = (replace(rules, to=to, model=model) for to, model in product(CreditTo, Model))
    return Explanation(
        tuple(step for number, step in enumerate(steps) if number >= first or step.share),
        verdict,
        tuple(_verdict(sale, devices, other) for other in others if other != rules),
        sum(1 for step in steps[:first] if not step.share),
    )


_ORDER = {kind: number for number, kind in enumerate(StepKind)}


def _place(step: CreditStep) -> tuple[datetime, int, str]:
    return step.at, _ORDER[step.kind], step.device_id or ""


def _verdict(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Verdict:
    (credited,) = share_credit([sale], devices, rules)
    return Verdict(rules, *credited)


def _concerns(device: Device, sale: SaleFacts[Touch], verdict: Verdict) -> bool:
    """Whether the device is the sale's, or one that was identified as the sale's customer."""
    return device.id == sale.device_id or any(
        identity.customer_id == verdict.customer_id and not _is_replaced(identity, verdict.rules)
        for identity in device.customers
    )


def _is_replaced(identity: Identification, rules: CreditRules) -> bool:
    return identity.replaced_at is not None and rules.knows(identity.replaced_at, None)


class _StepWriter:
    """Writes the steps of a sale and its devices, in no order."""

    def __init__(self, sale: SaleFacts[Touch], devices: Sequence[Device], verdict: Verdict) -> None:
        self._sale = sale
        self._devices = devices
        self._verdict = verdict
        self._rules = verdict.rules
        self._shares = {id(share.touch): share for share in verdict.shares if share.touch}
        # By the model LINEAR, every touch that counts gets a share.
        self._counting = self._touches(replace(self._rules, model=Model.LINEAR))
        self._of_any_age = self._touches(replace(self._rules, model=Model.LINEAR, lookback_days=None))

    def _touches(self, rules: CreditRules) -> set[int]:
        return {id(share.touch) for share in _verdict(self._sale, self._devices, rules).shares if share.touch}

    def steps(self) -> Iterator[CreditStep]:
        """All visits up to the sale, all identities of its devices, the sale, and its refunds."""
        for device in self._devices:
            for visit in device.direct_visits:
                if visit.at <= self._sale.at:
                    yield CreditStep(StepKind.DIRECT_VISIT, visit.at, self._of_direct(visit), device.id)
            yield from self._identities(device)
        for device_id, touch in self._known_touches():
            if touch.at <= self._sale.at and not self._is_told_otherwise(touch):
                share = self._shares.get(id(touch))
                words = self._of_touch(touch, share, device_id)
                yield CreditStep(StepKind.TOUCH, touch.at, words, device_id, touch=touch, share=share)
        yield self._of_sale()
        for number, refund in enumerate(self._sale.refunds):
            is_known = self._rules.knows(refund.received_at, refund.received_at)
            at, words = refund.at or refund.received_at, _REFUND if refund.amount else _OTHER_CURRENCY
            yield CreditStep(StepKind.REFUND, at, words if is_known else _UNKNOWN, refund=number)

    def _known_touches(self) -> Sequence[tuple[DeviceId | None, Touch]]:
        """The touches of all devices, then those of the sale itself that are not among them."""
        touches: list[tuple[DeviceId | None, Touch]] = []
        for device in self._devices:
            first = device.first_touch
            if first and first not in device.touches:
                touches.append((device.id, first))
            touches += ((device.id, touch) for touch in device.touches)
        named = [touch for _, _, touch, _, _ in self._sale.visits if touch]
        times = {touch.at for device_id, touch in touches if device_id == self._sale.device_id}
        times.update(touch.at for touch in named)
        kept = [touch for _, _, touch, _, _ in self._sale.copies if touch and touch.at not in times]
        for added in (*kept, *named):
            listed = [touch for _, touch in touches]
            is_counted = id(added) in self._of_any_age and all(touch is not added for touch in listed)
            if is_counted or added not in listed:
                touches.append((self._sale.device_id, added))
        return touches

    def _is_told_otherwise(self, touch: Touch) -> bool:
        """Whether a server named this visit by its click, and another visit of the same click counts."""
        if not touch.is_named or id(touch) in self._of_any_age:
            return False
        return any(
            other.is_same_click(touch) for _, other in self._known_touches() if id(other) in self._of_any_age
        )

    def _of_touch(self, touch: Touch, share: CreditShare[Touch] | None, device_id: DeviceId | None) -> str:
        if not self._rules.knows(touch.at, touch.received_at):
            return _UNKNOWN
        if share:
            return f"It gets {percent(share.part)} of the sale."
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

    def _identities(self, device: Device) -> Iterator[CreditStep]:
        """The customers that the device was identified as. Repeated identities in a row are one step."""
        run, is_first = None, True
        for identity in device.customers:
            if _is_replaced(identity, self._rules):
                continue
            is_known = self._rules.knows(identity.at, identity.received_at)
            back = identity.taken_back_at
            holds = is_known and (back is None or not self._rules.knows(back, None))
            if run != (run := (identity.customer_id, is_known, holds, back)):
                words = _words(identity, holds, is_first) if is_known else _UNKNOWN
                yield from self._identity(device, identity, words)
            is_first = is_first and not holds

    def _identity(self, device: Device, identity: Identification, words: str) -> Iterator[CreditStep]:
        customer_id, back = identity.customer_id, identity.taken_back_at
        yield CreditStep(StepKind.IDENTITY, identity.at, words, device.id, customer_id)
        if back:
            words = f"It was taken back that the device is the customer {customer_id}'s."
            words = words if self._rules.knows(back, None) else _UNKNOWN
            yield CreditStep(StepKind.IDENTITY_TAKEN_BACK, back, words, device.id, customer_id)

    def _of_sale(self) -> CreditStep:
        sale, customer_id = self._sale, self._verdict.customer_id
        words = [self._whose()]
        if sale.device_id is None:
            words.append("A server told it, and no device.")
        if not self._verdict.shares:
            words.append(_UNKNOWN)
        elif all(share.touch is None for share in self._verdict.shares):
            words.append("No touch gets the credit.")
        return CreditStep(StepKind.SALE, sale.at, " ".join(words), sale.device_id, customer_id)

    def _whose(self) -> str:
        named, owner = self._sale.customer_id, self._verdict.customer_id
        if named is not None and named == owner:
            return f"It is the sale of the customer {named}, of whom it was told."
        if named is not None:
            whose = f"it counts for {owner}" if owner is not None else "nobody's customer is known"
            return f"It was told of the customer {named}, which was taken back: {whose}."
        if owner is not None:
            return f"It is the sale of the customer {owner}, whose device it was."
        return "No customer is known."


_UNKNOWN = "The service was told only after the moment that is asked about, so it does not count."
_OTHER_CURRENCY = "It was told in a currency that the sale does not have any more, so it does not count."
_REFUND = "It was paid back, and taken from each touch by what that has of the sale."


def _words(identity: Identification, holds: bool, is_first: bool) -> str:
    if identity.customer_id is None:
        return "From here on the device had more customers than are kept, so it counts as nobody's."
    if not holds:
        return f"The device was told to be the customer {identity.customer_id}'s, which was taken back."
    also = ", and so is what it did before." if is_first else "."
    return f"From here on the device is the customer {identity.customer_id}'s{also}"


def touch_in_words(touch: Touch, link: Link | None) -> str:
    """What a visit came from, such as "A visit from the link Spring, utm_source=mail"."""
    named = [f"the link {link.link_name}" if link else "a link that is gone"] if touch.link_id else []
    if touch.variant:
        named.append(f"its variant {touch.variant}")
    named += [f"{name}={value}" for name, value in touch.utm.items()]
    named += [f"an ad ({name})" for name in touch.click_ids]
    return "A visit from " + ", ".join(named)


def percent(part: Fraction) -> str:
    """A part of a sale in words."""
    return "all" if part == 1 else f"{float(100 * part):.2f}".rstrip("0").rstrip(".") + " %"
