"""Links from CSV files."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest

from backend.app import utc_now
from backend.domain.links import Link
from backend.imports.csv_file import UnreadableCsv
from backend.imports.link_csv import read_rows
from backend.imports.link_import import ImportReport, LinkImport, RowOutcome
from backend.imports.report import write_refused
from backend.storage.links import list_links
from backend.storage.mongo import Database
from tests.organizations import TestOrganization

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
    found = {link.path: link for link in await links(database, organization)}
    assert sorted(link.link_name for link in found.values()) == ["A", "A", "B", "Größe"]
    sale = found["spring/sale"]
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


async def test_the_report_can_be_corrected_and_imported(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Refused rows stand in the report with line and reason; corrected there, they are imported from it."""
    domain = organization.domain
    rows = [
        f"{domain},good,https://shop.example,A,,,",
        f"{domain},bad path,https://shop.example,B,,,",
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
    report.write_text(report.read_text(encoding="utf-8").replace("bad path", "good-path"), encoding="utf-8")
    # The corrected one is made, and the one that had too many cells.
    assert (await run_import(database, organization, report)).counts[RowOutcome.CREATED] == 2
    assert {"good", "good-path", "i"} == {link.path for link in await links(database, organization)}


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
async def test_rows_that_close_a_loop(
    database: Database, organization: TestOrganization, tmp_path: Path, dry_run: bool
) -> None:
    """Of links that lead to one another the last is refused, also by a dry run."""
    domain = organization.domain
    rows = [f"{domain},{n},https://{domain}/x/../%3{(n + 1) % 5},A,,," for n in range(5)]
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
        (b"domain,destination_url,link_name\n\xff,a,b\n", "is not in UTF-8"),
        (b'domain,destination_url,link_name\n"a', "is not a CSV file"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, sentence: str) -> None:
    """A file that can't be read as links is refused whole, with one sentence."""
    file = tmp_path / "links.csv"
    file.write_bytes(content)
    with pytest.raises(UnreadableCsv, match=sentence):
        read_rows(file)
