"""An organization's facts as tests make them up, and how they are stored in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction

import duckdb

from backend.domain.analytics.query import Field
from backend.domain.sales.credit_rules import Model
from backend.domain.web.referring_sites import site_of
from backend.storage.columns.tables.schema import TABLES
from backend.storage.columns.tables.written_columns import show_clicks
from tests.storage.analytics.tables import attach_days, days_of

DAY_MS = 86_400_000
UTM = (Field.CAMPAIGN, Field.SOURCE, Field.MEDIUM, Field.TERM, Field.CONTENT)


@dataclass(frozen=True)
class StoredLink:
    """A link; without `is_kept` it has been deleted for good."""

    number: int
    domain: str = "d.example"
    utm: Mapping[Field, str] = field(default_factory=dict)
    tag_ids: tuple[str, ...] = ()
    is_kept: bool = True

    @property
    def id(self) -> str:
        """Its id: links sort by it in another order than by their numbers."""
        return f"link-{(self.number * 7) % 10}"


@dataclass(frozen=True)
class StoredClick:
    """A request, or several alike of a day whose single clicks have expired."""

    at: int
    link: int
    block: int = 1
    weight: int = 1
    outcome: str = "web"
    reason: str | None = None
    platform: str = "ios"
    system: str = ""
    browser: str = ""
    country: str | None = None
    referrer: str | None = None
    variant: str | None = None
    visitor: int | None = None
    kind: str | None = "browser"

    @property
    def referring_site(self) -> str | None:
        """The site of the referrer."""
        return site_of(self.referrer) if self.referrer else None


@dataclass(frozen=True)
class Touch:
    """A visit by a link, a campaign or an ad, and the time of the click that led to it."""

    link: int | None = None
    utm: Mapping[Field, str] = field(default_factory=dict)
    variant: str | None = None
    click_at: int | None = None


@dataclass(frozen=True)
class Sale:
    """A lead, a conversion, an event or an identity, with the touches before it, oldest first."""

    kind: str
    at: int
    customer: str | None = None
    name: str | None = None
    currency: str | None = None
    digits: int | None = None
    amount: int | None = None
    refunded: int = 0
    touches: tuple[Touch, ...] = ()
    metadata: Mapping[str, str] | None = None

    def shares(self, model: Model) -> list[tuple[Fraction, Touch | None]]:
        """What each touch gets."""
        touches = self.touches
        if not touches:
            return [(Fraction(1), None)]
        if model is Model.LINEAR or (model is Model.POSITION_BASED and len(touches) < 3):
            return [(Fraction(1, len(touches)), touch) for touch in touches]
        if model is not Model.POSITION_BASED:
            return [(Fraction(1), touches[0 if model is Model.FIRST else -1])]
        edge, inner = Fraction(2, 5), Fraction(1, 5 * (len(touches) - 2))
        parts = [edge, *(inner for _ in touches[1:-1]), edge]
        return list(zip(parts, touches, strict=True))


@dataclass(frozen=True)
class Install:
    """An install, that a link led to or none."""

    at: int
    link: int | None


@dataclass(frozen=True)
class StoredCost:
    """What a campaign cost on a day, counted from 1970, in units of so many decimals."""

    campaign: str
    day: int
    currency: str
    digits: int
    amount: int


@dataclass
class StoredFacts:
    """An organization's facts. `former` are visitors of days whose single clicks have expired."""

    links: list[StoredLink] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    clicks: list[StoredClick] = field(default_factory=list)
    former: list[tuple[int, int, int]] = field(default_factory=list)
    sales: list[Sale] = field(default_factory=list)
    installs: list[Install] = field(default_factory=list)
    costs: list[StoredCost] = field(default_factory=list)

    def stored(self) -> duckdb.DuckDBPyConnection:
        """A connection to these facts, in columns."""
        connection = duckdb.connect(config={"threads": 1})
        connection.execute(TABLES)
        show_clicks(connection, attach_days(connection, "days"))
        _insert(connection, "tags", [{"id": tag_id, "name": name} for tag_id, name in self.tags.items()])
        _insert(connection, "links", [_link_row(link) for link in self.links])
        blocks = [{"block": number, "id": f"block-{number}"} for number in range(1, 10)]
        _insert(connection, "days_0.blocks", blocks)
        for click in self.clicks:
            _insert(connection, f"days_{click.at // DAY_MS % 2}.clicks", [asdict(click)])
        former = [
            dict(zip(("day", "link", "visitor"), day_visitor, strict=True)) for day_visitor in self.former
        ]
        _insert(connection, "days_1.day_visitors", former)
        _insert(connection, "installs", [asdict(install) for install in self.installs])
        _insert(connection, "costs", [asdict(cost) for cost in self.costs])
        for record, sale in enumerate(self.sales):
            _insert_sale(connection, record, sale)
        return connection


def another(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the same facts."""
    cursor = connection.cursor()
    show_clicks(cursor, days_of("days"))
    return cursor


def _link_row(link: StoredLink) -> dict[str, object]:
    number = link.number
    names = {"link": number, "id": link.id, "path": f"path-{number}", "link_name": f"Link {number}"}
    facts = {"is_kept": link.is_kept, "domain": link.domain, "tag_ids": list(link.tag_ids)}
    return names | facts | {name.value: link.utm.get(name) for name in UTM}


def _insert_sale(connection: duckdb.DuckDBPyConnection, record: int, sale: Sale) -> None:
    """Store a sale of a device of its own, which visited a second before it, and so on.

    Of an identity, also a wrong one before it that was taken back, and one that repeats it.
    """
    times, device = {"at": sale.at, "known_at": sale.at}, f"device-{record}"
    if sale.kind == "identify":
        identified = {"device": device, "entry": record, "customer": sale.customer or "ada"}
        for number, back in enumerate((True, False, False)):
            at, taken_back_at = sale.at + number * 5 - 5, sale.at if back else None
            times_told = {"number": number, "at": at, "known_at": at, "taken_back_at": taken_back_at}
            _insert(connection, "identities", [identified | times_told])
    names = {"record": record, "kind": sale.kind, "id": f"id-{record}", "name": sale.name, "at": sale.at}
    amounts = {"currency": sale.currency, "digits": sale.digits, "amount": sale.amount}
    if sale.kind != "identify":
        _insert(connection, "records", [names | amounts | {"metadata": sale.metadata}])
    who = {"record": record, "number": 0, "device": device, "customer": sale.customer, "is_server": False}
    if sale.kind != "identify":
        _insert(connection, "tellings", [who | times])
    if sale.refunded:
        of_sale: dict[str, object] = {"record": record, "currency": sale.currency}
        _insert(connection, "refunds", [of_sale | {"amount": sale.refunded} | times])
    _insert(connection, "devices", [{"device": device, "last_seen_at": sale.at, "entry": record}])
    for number, credited in enumerate(sale.touches):
        visit = {
            "device": device,
            "entry": record,
            "number": number,
            "is_touch": True,
            "is_named": False,
        } | times
        visit["at"] = sale.at - 1000 * (len(sale.touches) - number)
        told = {name.value: credited.utm.get(name) for name in UTM}
        touch = {"link": credited.link, "variant": credited.variant, "click_at": credited.click_at}
        _insert(connection, "visits", [visit | told | touch])


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Put rows into a table, all with the same columns."""
    if rows:
        columns = ", ".join(f'"{column}"' for column in rows[0])
        places = ", ".join("?" for _ in rows[0])
        statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"
        connection.executemany(statement, [list(row.values()) for row in rows])
