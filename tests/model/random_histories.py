"""Random histories of a few people, their browsers and the servers that know them.

Of two things in a history that a rule compares, one is clearly earlier: a browser's time is known to some
seconds only (docs/decisions/browser-clocks.md). So times stand apart, from each other, from midnight and from
the edges of windows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tests.model.documented_rules import counts_at
from tests.model.history import DAY, HOUR, MINUTE, Cost, Fact, History, Telling

ROUNDS = tuple(number * 12 * HOUR + number * 37 % 8 * 30 * MINUTE for number in range(1, 36))
"""When the service is told: each history's tellings have a round each."""
FIRST, LAST = -3 * DAY, 17 * DAY  # what happens, happens between these
SLOT = 30 * MINUTE
WINDOWS = (1, 3, 7)  # days of lookback
LATEST = 7 * DAY  # a browser gives a call up after a week (docs/sdk.md)
CLEAR = 5 * MINUTE
CURRENCIES = ("EUR", "EUR", "JPY", "KWD")
CAMPAIGNS = ("news", "mail")  # of addresses
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
    times = {counts_at(telling, place) for telling in history.tellings for place in range(len(telling.facts))}
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
    pairs: list[tuple[str, str]] = field(default_factory=list)  # of devices and customers that were told

    def history(self, number: int) -> History:
        """A whole history."""
        self.slots = self.random.sample(range(FIRST // SLOT, LAST // SLOT), 40)
        self.devices = ["phone", "laptop", "tablet"][: self.random.choice((1, 1, 2, 2, 3))]
        self.customers = ["ada", "bob"][: self.random.choice((0, 1, 1, 2))]
        self.links = ("a", "b", "c")[: self.random.choice((1, 2, 3))]
        self.skews = {device: self.random.choice(SKEWS) for device in self.devices}
        weights: dict[Callable[[], None], float] = {
            self.visit: 5,
            self.click: 4,
            self.sell: 4,
            self.identify: 3,
            self.refund: 2,
            self.lead: 1,
            self.event: 1,
            self.take_back: 1,
        }
        things = self.random.choices([*weights], [*weights.values()], k=self.random.randint(2, 11))
        for thing in [*things, self.sell]:
            thing()
        self.repeat()
        fates = {link: self.random.random() for link in self.links}
        return History(
            number,
            tuple(self.tellings[told] for told in sorted(self.tellings)),
            renamed=tuple(link for link in self.links if fates[link] < 0.1),
            purged=tuple(link for link in self.links if fates[link] > 0.97),
            links=self.links,
            costs=tuple(self.costs()),
        )

    def costs(self) -> Iterator[Cost]:
        """What campaigns cost: each on no day, one or two, in a currency or two."""
        campaigns = [{"link": link} for link in self.links] + [{"campaign": name} for name in CAMPAIGNS]
        for campaign in campaigns:
            days = {
                (self.random.randint(-3, 17), self.random.choice(CURRENCIES))
                for _ in range(self.random.choice((0, 0, 1, 2)))
            }
            for day, currency in sorted(days):
                yield Cost(day, Decimal(self.random.choice((0, 3, 7, 20))), currency, **campaign)

    def moment(self) -> int:
        """A time that nothing else of this history has, apart from rounds, which begin with half hours."""
        return self.slots.pop() * SLOT + 15 * MINUTE + self.random.randint(-4 * MINUTE, 2 * MINUTE)

    def id(self) -> str:
        """An id that nothing else has."""
        return f"{self.random.getrandbits(48):012x}"

    def happens(self, chance: float) -> bool:
        """True as often as that."""
        return self.random.random() < chance

    def device(self) -> str:
        """One of the devices."""
        return self.random.choice(self.devices)

    def customer(self, chance: float = 1.0) -> str | None:
        """One of the customers, as often as that."""
        return self.random.choice(self.customers) if self.customers and self.happens(chance) else None

    def tell(self, at: int, telling: Telling, latest: int = ROUNDS[-1]) -> bool:
        """Have something told in a round of its own, or with others of the browser, if there is one."""
        rounds = [round_ for round_ in ROUNDS if at < round_ <= latest and self.is_free(round_, telling)]
        if not rounds:
            return False
        told = rounds[0] if self.happens(0.5) else self.random.choice(rounds)
        before = self.tellings[told].facts if told in self.tellings else ()
        facts = [*before, *telling.facts]
        self.random.shuffle(facts)
        self.tellings[told] = replace(telling, told=told, facts=tuple(facts))
        self.pairs += [
            (fact.device, fact.customer) for fact in telling.facts if fact.device and fact.customer
        ]
        return True

    def is_free(self, told: int, telling: Telling) -> bool:
        """Whether this can be told then; a browser tells several things at once."""
        there = self.tellings.get(told)
        return there is None or (
            telling.by == there.by == "browser" and there.device == telling.device and len(there.facts) < 4
        )

    def browser(self, fact: Fact) -> bool:
        """Have a browser tell something, within the time that it keeps it."""
        device, at = fact.device or self.devices[0], fact.at
        if self.happens(0.02):  # its clock was changed meanwhile
            fact = replace(fact, at=fact.at + self.random.choice((-30, 30)) * DAY)
        telling = Telling(0, "browser", (fact,), device, self.skews[device])
        return self.tell(at, telling, at + LATEST)

    def server(self, fact: Fact, after: int | None = None) -> bool:
        """Have a server tell something, however late, but not before some time."""
        return self.tell(max(fact.at, fact.at if after is None else after), Telling(0, "server", (fact,)))

    def visit(self) -> None:
        """A browser's visit: by a copied address of a link, by a campaign, an ad, or none of these."""
        link, campaign = self.random.choice(self.links), self.random.choice(CAMPAIGNS)
        visit = Fact("visit", self.moment(), self.id(), device=self.device())
        visits = (
            replace(visit, link=link),
            replace(visit, link=link, campaign=campaign),
            replace(visit, campaign=campaign),
            replace(visit, has_ad=True),
            replace(visit, has_ad=True, campaign=campaign),
            visit,
        )
        self.browser(self.random.choice(visits))

    def click(self) -> None:
        """A click, and most often the visit that it leads to, perhaps twice; perhaps a sale before that."""
        free = [round_ for round_ in ROUNDS if round_ not in self.tellings]
        if not free:
            return
        at = self.random.choice(free)
        click = Fact("click", at, self.id(), link=self.random.choice(self.links))
        self.tellings[at] = Telling(at, "visitor", (click,))
        self.clicks.append(click)
        if self.happens(0.75):
            visit = Fact(
                "visit", at + self.random.randint(60, 120), self.id(),
                device=self.device(), link=click.link, click=click.id,
            )  # fmt: skip
            self.browser(visit)
            again = self.moment()
            if again > at and self.happens(0.3):  # its address is opened again, perhaps elsewhere
                self.browser(replace(visit, at=again, id=self.id(), device=self.device()))
        if self.happens(0.25):
            self.sell(at + 20)

    def identify(self) -> None:
        """A device is somebody's, said by its browser or by a server."""
        customer = self.customer()
        if customer is None:
            return
        fact = Fact("identity", self.moment(), self.id(), device=self.device(), customer=customer)
        if self.happens(0.7):
            self.browser(fact)
        else:
            self.server_names(replace(fact, device=None), fact.device)

    def event(self) -> None:
        """An event, which also says what a server or a browser knows."""
        fact = Fact("event", self.moment(), self.id())
        if self.happens(0.5):
            self.browser(replace(fact, device=self.device(), customer=self.customer(0.3)))
        else:
            self.server_names(fact, self.device() if self.happens(0.5) else None)

    def lead(self) -> None:
        """A lead, of a browser or a server."""
        self.sale(Fact("lead", self.moment(), key=f"lead-{self.id()}" if self.happens(0.6) else None))

    def sell(self, at: int | None = None) -> None:
        """A conversion: told by browsers, servers, or both, which know this and that of it."""
        currency = self.random.choice(CURRENCIES)
        cents = self.random.choice((0, 1, 5, 99, 1000, 4990, 10000, 123456, 3333333))
        amount = _decimal(Decimal(cents) / self.random.choice((100, 100, 100, 3)))
        at = self.moment() if at is None else at
        sale = Fact("sale", at, key=f"order-{self.id()}", amount=amount, currency=currency)
        if self.sale(sale):
            self.sales.append(sale)

    def sale(self, fact: Fact) -> bool:
        """Have a conversion or lead told, once or more often; whether it was."""
        step = 15 if fact.at % SLOT > MINUTE else 5  # a sale soon after a click
        times = self.random.sample(range(0, 6 * step, step), 6)
        device = self.device()
        is_told = False
        for later in times:
            mine = replace(fact, at=fact.at + later, id=self.id())
            if self.happens(0.1):
                device = self.device()
            if self.happens(0.45):
                if fact.kind == "sale" and self.happens(0.05):
                    mine = replace(mine, key=None)
                mine = _differently(mine)
                is_told |= self.browser(replace(mine, device=device, customer=self.customer(0.3)))
            elif fact.key is not None or not is_told:
                mine = _differently(mine)
                is_told |= self.server_names(mine, device if self.happens(0.5) else None)
            if fact.key is None or self.happens(0.55):
                break
        return is_told

    def server_names(self, fact: Fact, device: str | None) -> bool:
        """Have a server tell something by one or more of device, customer and click."""
        click = self.random.choice(self.clicks) if self.clicks and self.happens(0.5) else None
        customer = fact.customer or self.customer(0.5)
        if device is None and customer is None and click is None:
            device = self.device()
        known = replace(fact, device=device, customer=customer, click=click.id if click else None)
        return self.server(known, after=click.at if click else None)

    def refund(self) -> None:
        """Something of a sale is paid back, or more than was paid, or in another currency."""
        if not self.sales:
            return
        sale = self.random.choice(self.sales)
        assert sale.amount is not None
        parts = (Decimal(1), Decimal("0.5"), Decimal("0.3333"), Decimal("0.1"), Decimal(2))
        amount = _decimal(sale.amount * self.random.choice(parts))
        currency = sale.currency if self.happens(0.95) else "USD"
        refund = f"refund-{self.id()}"
        at = max(self.moment(), sale.at + HOUR)
        self.server(
            Fact("refund", at, self.id(), key=sale.key, refund=refund, amount=amount, currency=currency)
        )

    def take_back(self) -> None:
        """A device was not this customer's."""
        if not self.pairs:
            return
        device, customer = self.random.choice(self.pairs)
        rounds = [round_ for round_ in ROUNDS if round_ not in self.tellings]
        if rounds:
            at = self.random.choice(rounds[len(rounds) // 3 :])
            fact = Fact("take_back", at, self.id(), device=device, customer=customer)
            self.tellings[at] = Telling(at, "server", (fact,))

    def repeat(self) -> None:
        """What was told is told again, as where an answer was lost."""
        for told, telling in list(self.tellings.items()):
            if telling.by == "visitor" or telling.facts[0].kind == "take_back" or not self.happens(0.15):
                continue
            rounds = [round_ for round_ in ROUNDS if round_ > told and round_ not in self.tellings]
            if rounds:
                again = self.random.choice(rounds)
                self.tellings[again] = replace(telling, told=again)


def _differently(sale: Fact) -> Fact:
    """What one who tells of a sale knows of its amount: at times with the tax, or in another currency."""
    drawn = int(sale.id, 16)
    if sale.amount is not None and drawn % 8 == 0:
        sale = replace(sale, amount=_decimal(sale.amount * Decimal("1.19")))
    if sale.currency is not None and drawn % 15 == 0:
        sale = replace(sale, currency=CURRENCIES[drawn % len(CURRENCIES)])
    return sale


def _decimal(amount: Decimal) -> Decimal:
    """An amount with at most seven decimal places, and no more digits than a page can tell exactly."""
    return Decimal(f"{amount:.7f}").normalize() + Decimal(0)
