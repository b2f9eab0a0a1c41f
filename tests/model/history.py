"""A history: what happened on a site, and what the service was told of it, by whom and when.

Times are whole seconds since a beginning that the test chooses (`BEGINNING` in `storyteller`).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

MINUTE, HOUR, DAY = 60, 3600, 86400

Kind = Literal["click", "visit", "identity", "event", "lead", "sale", "refund", "take_back"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that happened. Fields that do not apply are None."""

    kind: Kind
    at: int
    id: str = ""  # a telling that is repeated has the same
    device: str | None = None
    customer: str | None = None
    link: str | None = None
    click: str | None = None
    campaign: str | None = None  # of the address of a visit
    has_ad: bool = False  # the address of a visit has an ad click id
    key: str | None = None  # of a sale its transaction_id, of a lead its event_id
    refund: str | None = None
    amount: Decimal | None = None
    currency: str | None = None

    @property
    def plan(self) -> str | None:
        """What an event tells of a plan: a text, a number as it reads, or nothing."""
        return ("pro", "2.5", None)[int(self.id, 16) % 3] if self.kind == "event" else None

    def in_words(self) -> str:
        """The fact in a line."""
        said = [f"{self.kind:9} {moment(self.at)}"]
        names = ("key", "refund", "amount", "currency", "device", "customer", "link", "click", "campaign")
        said += [f"{name}={getattr(self, name)}" for name in names if getattr(self, name) is not None]
        if self.has_ad:
            said.append("ad")
        if self.kind == "visit" and not (self.link or self.campaign or self.has_ad):
            said.append("direct")
        return " ".join(said)


@dataclass(frozen=True, slots=True)
class Telling:
    """What the service was told at once: by a browser in a batch, by a server, or by a visitor's click."""

    told: int
    by: Literal["browser", "server", "visitor"]
    facts: tuple[Fact, ...]
    device: str | None = None  # the browser's
    skew: int = 0  # how many seconds the browser's clock is ahead

    def in_words(self) -> str:
        """The telling in lines: when and by whom, and each fact."""
        clock = f", whose clock is {self.skew} s ahead" if self.skew else ""
        who = f"{self.by} {self.device}{clock}" if self.device else self.by
        facts = "\n".join(f"      {fact.in_words()}" for fact in self.facts)
        return f"  told {moment(self.told)} by {who}\n{facts}"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a campaign cost on a day: that of a link, as it is in the end, or one of addresses."""

    day: int  # counted from the day of the beginning, in UTC
    amount: Decimal
    currency: str
    link: str | None = None
    campaign: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A few people, their browsers, and what was told of them in the order of `told`.

    Names are the history's own. `name` makes them unique among all histories.
    """

    number: int
    tellings: tuple[Telling, ...]
    renamed: tuple[str, ...] = ()  # links whose campaign was changed after everything was told
    purged: tuple[str, ...] = ()  # links that were deleted for good then
    links: tuple[str, ...] = field(default=("a", "b", "c"))
    costs: tuple[Cost, ...] = ()  # told after everything

    def __hash__(self) -> int:
        """By its number alone: to go through all that it tells takes long, and is done for each look-up."""
        return self.number

    def name(self, own: str) -> str:
        """The name of something of this history among those of all histories."""
        return f"h{self.number}-{own}"

    def device_id(self, device: str) -> str:
        """The UUID of a device."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, self.name(device)))

    def campaign(self, link: str) -> str:
        """The campaign that a link has in the end."""
        return self.name(f"link-{link}{'-renamed' if link in self.renamed else ''}")

    def campaign_of(self, cost: Cost) -> str:
        """The campaign that a cost is of."""
        return self.name(cost.campaign) if cost.campaign else self.campaign(cost.link or "")

    def in_words(self) -> str:
        """The whole history as a list to read."""
        links = f"  links {', '.join(self.links)}"
        for what, some in (("renamed", self.renamed), ("deleted for good", self.purged)):
            links += f"; {what} in the end: {', '.join(some)}" if some else ""
        for cost in self.costs:
            links += f"\n  {self.campaign_of(cost)} cost {cost.amount} {cost.currency} on day {cost.day}"
        return "\n".join(
            [f"history {self.number}", links, *(telling.in_words() for telling in self.tellings)]
        )


def moment(at: int) -> str:
    """A time as day and time of day, such as `4d 13:05:20`."""
    day, rest = divmod(at, DAY)
    return f"{day}d {rest // HOUR:02}:{rest % HOUR // MINUTE:02}:{rest % MINUTE:02}"
