"""Random histories of a few people, their browsers and the servers that know them.

Of two things in a history that a rule compares, one is clearly earlier: a browser's time is known to some seconds only
(docs/decisions/browser-clocks.md). So times stand apart, from each other, from midnight and from the edges of windows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tests.model.history import DAY, HOUR, MINUTE, Fact, History, Telling

ROUNDS = tuple(number * 12 * HOUR + number * 37 % 8 * 30 * MINUTE for number in range(1, 36))
"""When the service is told: each history's tellings have a round each."""
FIRST, LAST = -3 * DAY, 17 * DAY  # what happens, happens between these
SLOT = 30 * MINUTE
WINDOWS = (1, 3, 7)  # days of lookback
LATEST = 7 * DAY  # a browser gives a call up after a week (docs/sdk.md)
CLEAR = 5 * MINUTE
CURRENCIES = ("EUR", "EUR", "JPY", "KWD")
# Some seconds, an hour, a zone, some years.
SKEWS = (0, 0, 0, 47, -3600, 7200, -5 * 365 * DAY, 3 * 365 * DAY)


def random_history(number: int, seed: int) -> History:
    """The history with this number; the same seed gives the same one."""
    attempt = 0
    while True:
        story = _Story(random.Random(f"{seed}-{number}-{attempt}"))
        history = story.history(number)
        if is_clear(history):
            return history
        attempt += 1


def is_clear(history: History) -> bool:
    """Whether no two times are at the edge of a window from each other."""
    times = [fact.at for telling in history.tellings for fact in telling.facts]
    return all(
        abs(late - early - days * DAY) > CLEAR for late in times for early in times for days in WINDOWS
    )


@dataclass
class _Story:
    """A history while it is made up."""

    random: random.Random
    tellings: dict[int, Telling] = field(default_factory=dict)  # by round
    slots: list[int] = field(default_factory=list)
    clicks: list[Fact] = field(default_factory=list)
    sales: list[Fact] = field(default_factory=list)
    identities: list[tuple[int, str, str]] = field(default_factory=list)

    def history(self, number: int) -> History:
        """A whole history."""
        self.slots = self.random.sample(range(FIRST // SLOT, LAST // SLOT), 40)
        self.devices = ["phone", "laptop", "tablet"][: self.random.choice((1, 1, 2, 2, 3))]
        self.customers = ["ada", "bob"][: self.random.choice((0, 1, 1, 2))]
        self.links = ("a", "b", "c")[: self.random.choice((1, 2, 3))]
        self.skews = {device: self.random.choice(SKEWS) for device in self.devices}
        things: list[Callable[[], None]] = self.random.choices(
            [self.visit, self.click, self.identify, self.lead, self.sell, self.refund, self.take_back],
            [5, 4, 3, 1, 4, 2, 0.7],
            k=self.random.randint(2, 11),
        )
        for thing in [*things, self.sell]:
            thing()
        self.repeat()
        renamed = tuple(link for link in self.links if self.random.random() < 0.1)
        return History(
            number, tuple(self.tellings[each] for each in sorted(self.tellings)), renamed, self.links
        )

    def moment(self) -> int:
        """A time that nothing else of this history has, apart from rounds, which begin with half hours."""
        return self.slots.pop() * SLOT + 15 * MINUTE + self.random.randint(-4 * MINUTE, 4 * MINUTE)

    def id(self) -> str:
        """An id that nothing else has."""
        return f"{self.random.getrandbits(48):012x}"

    def tell(self, at: int, telling: Telling, latest: int = ROUNDS[-1]) -> int | None:
        """Have something told in a round of its own, or with others of the browser; when, or None."""
        rounds = [each for each in ROUNDS if at < each <= latest and self.is_free(each, telling)]
        if not rounds:
            return None
        told = rounds[0] if self.random.random() < 0.5 else self.random.choice(rounds)
        before = self.tellings[told].facts if told in self.tellings else ()
        facts = [*before, *telling.facts]
        self.random.shuffle(facts)
        self.tellings[told] = replace(telling, told=told, facts=tuple(facts))
        return told

    def is_free(self, told: int, telling: Telling) -> bool:
        """Whether this can be told then; a browser tells several things at once."""
        there = self.tellings.get(told)
        return there is None or (
            telling.by == there.by == "browser" and there.device == telling.device and len(there.facts) < 4
        )

    def browser(self, fact: Fact) -> int | None:
        """Have a browser tell something within the time that it keeps it."""
        device = fact.device or self.devices[0]
        telling = Telling(0, "browser", (fact,), device, self.skews[device])
        return self.tell(fact.at, telling, fact.at + LATEST)

    def server(self, fact: Fact, after: int | None = None) -> int | None:
        """Have a server tell something, however late."""
        return self.tell(max(fact.at, fact.at if after is None else after), Telling(0, "server", (fact,)))

    def device(self) -> str:
        return self.random.choice(self.devices)

    def customer(self, chance: float = 1.0) -> str | None:
        return self.random.choice(self.customers) if self.customers and self.random.random() < chance else None

    def visit(self) -> None:
        """A browser's visit: by a copied address of a link, by a campaign, an ad, or none of these."""
        kinds = {
            "link": {"link": self.random.choice(self.links)},
            "both": {"link": self.random.choice(self.links), "campaign": "news"},
            "campaign": {"campaign": self.random.choice(("news", "mail"))},
            "ad": {"has_ad": True},
            "ad of a campaign": {"has_ad": True, "campaign": "news"},
            "direct": {},
        }
        fields = self.random.choice(list(kinds.values()))
        self.browser(Fact("visit", self.moment(), self.id(), device=self.device(), **fields))

    def click(self) -> None:
        """A click, most often with the visit that it leads to, told by the browser, by a server, or both."""
        free = [each for each in ROUNDS if each not in self.tellings]
        if not free:
            return
        at = self.random.choice(free)
        click = Fact("click", at, self.id(), link=self.random.choice(self.links))
        self.tellings[at] = Telling(at, "visitor", (click,))
        self.clicks.append(click)
        if self.random.random() < 0.75:
            landed = at + self.random.randint(20, 90)
            visit = Fact(
                "visit", landed, self.id(), device=self.device(), link=click.link, click=click.id
            )
            self.browser(visit)

    def identify(self) -> None:
        """A device is somebody's, said by its browser or by a server."""
        customer = self.customer()
        if customer is None:
            return
        fact = Fact("identity", self.moment(), self.id(), device=self.device(), customer=customer)
        told = self.browser(fact) if self.random.random() < 0.7 else self.server(fact)
        if told is not None:
            self.identities.append((told, fact.device or "", customer))

    def lead(self) -> None:
        """A lead, of a browser or a server."""
        key = f"lead-{self.id()}" if self.random.random() < 0.5 else None
        self.record(Fact("lead", self.moment(), key=key))

    def sell(self) -> None:
        """A sale: told by a browser, a server, or both, which know this and that of it."""
        currency = self.random.choice(CURRENCIES)
        cents = self.random.choice((0, 1, 5, 99, 1000, 4990, 10000, 123456, 3333333))
        amount = Decimal(cents) / 100 if self.random.random() < 0.8 else Decimal(cents) / 3
        amount = Decimal(f"{amount:.7f}").normalize() + Decimal(0)
        sale = Fact("sale", self.moment(), key=f"order-{self.id()}", amount=amount, currency=currency)
        if self.record(sale) is not None:
            self.sales.append(sale)

    def record(self, fact: Fact) -> int | None:
        """Have a sale or lead told, once or more often; when it was told first."""
        device = self.device()
        told: list[int | None] = []
        if self.random.random() < 0.6:
            mine = replace(fact, id=self.id(), device=device, customer=self.customer(0.3))
            told.append(self.browser(mine))
        while not told or (fact.key is not None and self.random.random() < 0.35):
            told.append(self.tell_record(fact, device))
        return min((each for each in told if each is not None), default=None)

    def tell_record(self, fact: Fact, device: str) -> int | None:
        """Have a server tell a sale or lead by one or more of device, customer and click."""
        later = replace(fact, at=fact.at + self.random.randint(0, 90), id=self.id())
        clicks = self.clicks
        click = self.random.choice(clicks) if clicks and self.random.random() < 0.5 else None
        known = replace(
            later,
            device=device if self.random.random() < 0.5 else None,
            customer=self.customer(0.5),
            click=click.id if click else None,
        )
        if known.device is None and known.customer is None and known.click is None:
            known = replace(known, device=device)
        return self.server(known, after=click.at if click else None)

    def refund(self) -> None:
        """Something of a sale is paid back, or more than was paid, or in another currency."""
        if not self.sales:
            return
        sale = self.random.choice(self.sales)
        assert sale.amount is not None
        part = self.random.choice((1, Decimal("0.5"), Decimal("0.3333"), Decimal("0.1"), 2))
        amount = Decimal(f"{sale.amount * part:.7f}").normalize() + Decimal(0)
        if amount <= 0:
            return
        currency = sale.currency if self.random.random() < 0.95 else "USD"
        refund = f"refund-{self.id()}"
        fact = Fact(
            "refund", self.moment(), self.id(), key=sale.key, refund=refund, amount=amount, currency=currency
        )
        self.server(replace(fact, at=max(fact.at, sale.at + HOUR)))

    def take_back(self) -> None:
        """A device was not this customer's."""
        customer = self.customer()
        if customer is None:
            return
        device = self.device()
        told = [each for each, said, name in self.identities if (said, name) == (device, customer)]
        after = min(told, default=ROUNDS[0])
        rounds = [each for each in ROUNDS if each > after and each not in self.tellings]
        if rounds:
            at = self.random.choice(rounds)
            fact = Fact("take_back", at, self.id(), device=device, customer=customer)
            self.tellings[at] = Telling(at, "server", (fact,))

    def repeat(self) -> None:
        """What was told is told again, as where an answer was lost."""
        for told, telling in list(self.tellings.items()):
            if telling.by == "visitor" or telling.facts[0].kind == "take_back" or self.random.random() > 0.15:
                continue
            rounds = [each for each in ROUNDS if each > told and each not in self.tellings]
            if rounds:
                again = self.random.choice(rounds)
                self.tellings[again] = replace(telling, told=again)
