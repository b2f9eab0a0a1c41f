"""Links from CSV files."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import WriteConcern, monitoring

from backend.domain.links.links import ImportedClicks, Link
from backend.domain.links.tags import tags_on
from backend.imports import import_tags
from backend.imports.csv_file import UnreadableCsv
from backend.imports.link_csv import read_rows
from backend.imports.link_import import ImportReport, LinkImport, RowOutcome
from backend.imports.report import write_refused
from backend.imports.template import InvalidTemplate
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_links
from backend.storage.links.tags import create_tag, find_tags_of, list_tags
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization

HEADER = "domain,selected_path,destination_url,link_name,ios_behavior,utm_source,custom_data\n"


async def run_import(
    database: Database, organization: TestOrganization, file: Path, *, dry_run: bool = False
) -> ImportReport:
    """Import a file."""
    rows = read_rows(file)
    done: list[int] = []
    report = await LinkImport(database, organization.id, utc_now(), dry_run=dry_run).run(rows, done.append)
    assert sum(done) == len(rows)
    return report


def counts(report: ImportReport) -> tuple[int, int, int]:
    """How many were created, there already, refused."""
    numbers = [report.counts[outcome] for outcome in RowOutcome]
    return numbers[0], numbers[1], numbers[2]


async def links(database: Database, organization: TestOrganization) -> list[Link]:
    """The organization's links."""
    return await list_links(database, organization.id, skip=0, limit=100)


def write(path: Path, *rows: str) -> Path:
    """A CSV file with these rows, as spreadsheets write it."""
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8-sig")
    return path


async def test_links_are_made_once(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Rows become links, equal rows several; a second run, also of a longer file, makes only what is new."""
    domain = organization.domain
    rows = [
        f'{domain},spring/sale,https://shop.example/sale,Größe,2,mail,"{{""a"": 1}}"',
        f"{domain},,https://shop.example/a,A,,,",
        f"{domain},,https://shop.example/a,A,,,",
    ]
    file = write(tmp_path / "links.csv", *rows)
    assert counts(await run_import(database, organization, file)) == (3, 0, 0)
    write(file, f"{domain},new,https://shop.example/b,B,,,", *reversed(rows))
    assert counts(await run_import(database, organization, file)) == (1, 3, 0)
    links_by_path = {link.path: link for link in await links(database, organization)}
    assert sorted(link.link_name for link in links_by_path.values()) == ["A", "A", "B", "Größe"]
    sale = links_by_path["spring/sale"]
    assert (sale.ios_behavior, sale.utm, sale.custom_data) == (2, {"utm_source": "mail"}, {"a": 1})


async def test_two_imports_at_once(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """The same file imported by two at the same time makes each link once."""
    rows = [f"{organization.domain},{n % 2 * n or ''},https://shop.example/{n},L{n},,," for n in range(60)]
    file = write(tmp_path / "links.csv", *rows)
    await asyncio.gather(*(run_import(database, organization, file) for _ in range(2)))
    assert len(await links(database, organization)) == 60


async def test_a_dry_run_stores_nothing(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A dry run says what would happen, and does none of it."""
    file = write(tmp_path / "links.csv", f"{organization.domain},a,https://shop.example,A,,,", ",,,,,,x")
    assert counts(await run_import(database, organization, file, dry_run=True)) == (1, 0, 1)
    assert await links(database, organization) == []


async def test_a_dry_run_knows_what_is_there(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A dry run tells apart what would be created, links that are there already, and paths in use."""
    domain = organization.domain
    there = [f"{domain},a,https://shop.example,A,,,", f"{domain.upper()},b,https://shop.example,B,,,"]
    await run_import(database, organization, write(tmp_path / "links.csv", *there))
    rows = [*there, f"{domain.upper()},B,https://shop.example,B,,,", f"{domain},b,https://shop.example,C,,,"]
    file = write(tmp_path / "links.csv", *rows, "other.example,c,https://shop.example,D,,,")
    report = await run_import(database, organization, file, dry_run=True)
    assert counts(report) == (1, 2, 2)
    assert [row.line for row, _ in report.refused] == [5, 6]
    assert report.missing_domains == {"other.example": 1}


class Commands(monitoring.CommandListener):
    """Counts what a client asks of MongoDB."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Count this command."""
        self.count += 1

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """It was counted as it started."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """It was counted as it started."""


@pytest.fixture
def commands() -> Commands:
    """What is asked on `counted_database`."""
    return Commands()


@pytest.fixture
def counted_database(settings: Settings, database: Database, commands: Commands) -> Iterator[Database]:
    """The service's database on a connection of its own."""
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(
        settings.mongodb_uri, tz_aware=True, event_listeners=[commands]
    )
    yield client.get_database(database.name, write_concern=WriteConcern("majority"))
    client.close()


async def test_a_dry_run_asks_little(
    counted_database: Database, commands: Commands, organization: TestOrganization, tmp_path: Path
) -> None:
    """Checking a file of hundreds of rows takes a few questions, and fewer than importing it."""
    rows = (f"{organization.domain},r{n},https://shop.example/{n},L{n},,," for n in range(500))
    file = write(tmp_path / "links.csv", *rows)

    async def asked(*, dry_run: bool) -> int:
        before = commands.count
        assert counts(await run_import(counted_database, organization, file, dry_run=dry_run)) == (500, 0, 0)
        return commands.count - before

    checking, importing = await asked(dry_run=True), await asked(dry_run=False)
    assert 0 < checking < 10
    assert checking < importing


def columns_of(folder: Path, content: str) -> Path:
    """A CSV file with other columns."""
    path = folder / "other.csv"
    path.write_text(content, encoding="utf-8")
    return path


def test_defaults(tmp_path: Path) -> None:
    """A template fills what a row lacks from its other fields, and changes nothing that is there."""
    file = columns_of(
        tmp_path,
        "link,long_url,title,campaign\n"
        "go.shop.example/a,https://shop.example/a,,mail\n"
        "go.shop.example/b/c,https://shop.example/b,Bee,\n"
        "go.shop.example,https://shop.example/c,,\n",
    )
    named = {"short_url": "link", "destination_url": "long_url", "link_name": "title"}
    rows = read_rows(file, named, {"link_name": "{path} ({campaign})", "utm_source": "old"})
    assert [row.cells.get("link_name") for row in rows] == ["a (mail)", "Bee", None]
    assert [row.cells["utm_source"] for row in rows] == ["old"] * 3
    rows = read_rows(file, {"destination_url": "long_url", "selected_path": "title"}, {
        "domain": "go.shop.example", "link_name": "{long_url}"
    })  # fmt: skip
    assert rows[0].cells["link_name"] == "https://shop.example/a"
    assert rows[0].cells["domain"] == "go.shop.example"


@pytest.mark.parametrize(
    "template", ["{nothing}", "{domain.__class__}", "{path!r}", "{path:>9}", "{path", "{}"]
)
def test_a_template_that_is_none(tmp_path: Path, template: str) -> None:
    """A template names fields of the row and nothing else; the error says which there are."""
    file = columns_of(tmp_path, "domain,destination_url,link_name\n")
    with pytest.raises(InvalidTemplate, match=r"There are: .*destination_url|is not a template"):
        read_rows(file, None, {"link_name": template})


async def test_the_opposite_of_a_flag(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """`is_disabled` takes a column such as `stopped`; what is neither true nor false is refused, and so is a
    row that says both."""
    domain = organization.domain
    file = columns_of(
        tmp_path,
        "domain,selected_path,destination_url,link_name,stopped,is_enabled\n"
        f"{domain},a,https://shop.example,A,TRUE,\n"
        f"{domain},b,https://shop.example,B,no,\n"
        f"{domain},c,https://shop.example,C,,\n"
        f"{domain},d,https://shop.example,D,perhaps,\n"
        f"{domain},e,https://shop.example,E,yes,true\n",
    )
    same = ("domain", "selected_path", "destination_url", "link_name", "is_enabled")
    rows = read_rows(file, {name: name for name in same} | {"is_disabled": "stopped"})
    report = await LinkImport(database, organization.id, utc_now(), dry_run=False).run(rows, lambda _: None)
    assert [reason for _, reason in report.refused] == [
        "is_disabled must be true or false",
        "is_disabled must not be given together with is_enabled",
    ]
    states = {link.path: link.is_enabled for link in await links(database, organization)}
    assert states == {"a": False, "b": True, "c": True}


async def test_archived_links(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """A link that another service hid from its lists is enabled and tagged, unless a column of its own says
    that it is disabled; the same row without the column is no second link."""
    head = "domain,selected_path,destination_url,link_name,tags,is_archived,is_disabled\n"
    rows = [("a", "mail", "true", ""), ("b", "", "yes", "true"), ("c", "Archived", "1", "")]
    rows.append(("d", "", "no", ""))
    place = f"{organization.domain},%s,https://shop.example,A"
    lines = "".join(f"{place % path},{','.join(cells)}\n" for path, *cells in rows)
    report = await run_import(database, organization, columns_of(tmp_path, head + lines))
    assert (counts(report), report.new_tags) == ((4, 0, 0), ["mail", "archived"])
    made = {link.path: link for link in await links(database, organization)}
    assert {path for path, link in made.items() if link.is_enabled} == {"a", "c", "d"}
    tags = await find_tags_of(database, list(made.values()))
    assert {path: [tag.name for tag in tags_on(link.tag_ids, tags)] for path, link in made.items()} == {
        "a": ["mail", "archived"], "b": ["archived"], "c": ["archived"], "d": [],
    }  # fmt: skip
    again = columns_of(tmp_path, head.replace("is_archived", "line") + lines)
    assert counts(await run_import(database, organization, again)) == (0, 4, 0)


async def test_clicks_as_history(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """Counts of another service are kept with its name and the time of the import; a later export with
    higher counts is the same link; what is no number is refused."""
    domain = organization.domain
    head = "domain,destination_url,link_name,imported_clicks,imported_from\n"
    row = f"{domain},https://shop.example,A,%s,Bitly\n"
    assert counts(await run_import(database, organization, columns_of(tmp_path, head + row % 1042))) == (
        1,
        0,
        0,
    )
    assert counts(await run_import(database, organization, columns_of(tmp_path, head + row % 2000))) == (
        0,
        1,
        0,
    )
    [link] = await links(database, organization)
    assert link.imported_clicks == ImportedClicks(1042, "Bitly", link.modified_at)
    for wrong in ("-1", "1.5", "many", "9" * 5000):
        file = columns_of(tmp_path, head + (row % wrong).replace(",A,", f",{wrong[:9]},"))
        [(_, reason)] = (await run_import(database, organization, file)).refused
        assert reason == "imported_clicks must be a whole number from 0 to 1000000000000000"


async def test_tags(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """A column of tags gives links those tags; what is not there is made, in a dry run only told."""
    await create_tag(database, organization.id, "Spring", None, utc_now())
    rows = ['A,"spring, shops/Berlin ,"', 'B,"mail,SHOPS/Berlin"', "C,", "D,a//b", f"E,{'x' * 65}"]
    lines = [f"{organization.domain},https://shop.example,{row}\n" for row in rows]
    file = columns_of(tmp_path, "domain,destination_url,link_name,tags\n" + "".join(lines))
    dry = await run_import(database, organization, file, dry_run=True)
    assert (counts(dry), dry.new_tags) == ((3, 0, 2), ["shops/Berlin", "mail"])
    assert [tag.name for tag in await list_tags(database, organization.id)] == ["Spring"]
    report = await run_import(database, organization, file)
    assert (counts(report), report.new_tags) == ((3, 0, 2), ["shops/Berlin", "mail"])
    assert [reason.partition(" ")[0] for _, reason in report.refused] == ["tags", "tags"]
    made = await links(database, organization)
    tags = await find_tags_of(database, made)
    shown = {link.link_name: [tag.name for tag in tags_on(link.tag_ids, tags)] for link in made}
    assert shown == {"A": ["Spring", "shops/Berlin"], "B": ["mail", "shops/Berlin"], "C": []}


async def test_rows_are_the_same_with_tags_and_without(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A row that got its tags after it was imported makes no link a second time."""
    head, row = "domain,destination_url,link_name", f"{organization.domain},https://shop.example,A"
    before = columns_of(tmp_path, f"{head}\n{row}\n")
    assert counts(await run_import(database, organization, before)) == (1, 0, 0)
    again = columns_of(tmp_path, f"{head},tags\n{row},spring\n")
    report = await run_import(database, organization, again)
    assert (counts(report), report.new_tags) == ((0, 1, 0), [])


async def test_tags_have_a_bound(
    database: Database, organization: TestOrganization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that need one more tag than an organization may have are refused with the reason, others not."""
    monkeypatch.setattr(import_tags, "MOST_TAGS", 1)
    rows = [f"{organization.domain},https://shop.example,{row}\n" for row in ("A,one", "B,two", "C,One")]
    file = columns_of(tmp_path, "domain,destination_url,link_name,tags\n" + "".join(rows))
    for dry_run in (True, False):
        report = await run_import(database, organization, file, dry_run=dry_run)
        assert counts(report) == (2, 0, 1)
        assert [reason for _, reason in report.refused] == [
            "tags has a new tag, two; the organization has 1, and no more are possible"
        ]


async def test_the_report_can_be_corrected_and_imported(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Refused rows stand in the report with line and reason; corrected there, they are imported from it as
    they were, though no spreadsheet runs a cell."""
    domain = organization.domain
    rows = [
        f"{domain},good,https://shop.example,A,,,",
        f"{domain},bad path,https://shop.example,\"''=B(1);+2\",,,",
        f"{domain},c,javascript:x,C,,,",
        "someone.else.example,d,https://shop.example,D,,,",
        f"{domain},f,https://shop.example,F,5,,",
        f"{domain},g,https://shop.example,,,,",
        f"{domain},h,https://shop.example,H,,,nonsense",
        f"{domain},i,https://shop.example,I,,,,too,many",
    ]
    result = await run_import(database, organization, write(tmp_path / "links.csv", *rows))
    assert counts(result) == (1, 0, 7)
    report = tmp_path / "refused.csv"
    write_refused(report, result.refused)
    with report.open(encoding="utf-8", newline="") as opened:
        refused = list(csv.DictReader(opened))
    assert [(row["line"], row["reason"].split()[0]) for row in refused] == [
        ("3", "selected_path"),
        ("4", "destination_url"),
        ("5", "domain"),
        ("6", "ios_behavior"),
        ("7", "link_name"),
        ("8", "custom_data"),
        ("9", "(too"),
    ]
    assert "\"''=B(1);'+2\"" in report.read_text(encoding="utf-8")
    report.write_text(report.read_text(encoding="utf-8").replace("bad path", "good-path"), encoding="utf-8")
    # The corrected one is made, and the one that had too many cells.
    assert (await run_import(database, organization, report)).counts[RowOutcome.CREATED] == 2
    made = {link.path: link.link_name for link in await links(database, organization)}
    assert made == {"good": "A", "good-path": "'=B(1);+2", "i": "I"}


async def test_a_path_that_is_taken(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A path of another link is refused, whether that link was there before or stands in the same file."""
    domain = organization.domain
    rows = [f"{domain},same,https://shop.example/{n},A,,," for n in range(2)]
    report = await run_import(database, organization, write(tmp_path / "links.csv", *rows))
    assert counts(report) == (1, 0, 1)
    assert report.refused[0][1] == "selected_path is already in use on this domain"


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    "target", ["x/../%70{}", "P{}", "P{}/"], ids=("written otherwise", "capitals", "loose")
)
async def test_rows_that_close_a_loop(
    database: Database, organization: TestOrganization, tmp_path: Path, dry_run: bool, target: str
) -> None:
    """Of links that lead to one another the last is refused, also by a dry run, and in other case."""
    domain = organization.domain
    rows = [f"{domain},p{n},https://{domain}/{target.format((n + 1) % 5)},A,,," for n in range(5)]
    report = await run_import(database, organization, write(tmp_path / "links.csv", *rows), dry_run=dry_run)
    assert counts(report) == (4, 0, 1)
    [(_, reason)] = report.refused
    assert reason == "destination_url must not lead back to the link's own short URL"
    assert len(await links(database, organization)) == (0 if dry_run else 4)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "these are missing: domain, destination_url, link_name"),
        (b"domain,link_name\n", "these are missing: destination_url"),
        (b"domain,destination_url,link_name,color\n", "unknown or named twice: color"),
        (b"domain,destination_url,link_name,domain\n", "unknown or named twice: domain"),
        (
            b"domain,Ziel,link_name\na,https://a.example,b\n",
            "Is Ziel where the links lead",
        ),
        (b"PK\x03\x04", "is a workbook: save its sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook: save its sheet as CSV"),
        (b'domain,destination_url,link_name\n"a', "is not a CSV file"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, sentence: str) -> None:
    """A file that can't be read as links is refused whole, with one sentence."""
    file = tmp_path / "links.csv"
    file.write_bytes(content)
    with pytest.raises(UnreadableCsv, match=sentence):
        read_rows(file)
