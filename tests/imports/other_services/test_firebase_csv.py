"""Links from exports of Firebase Dynamic Links."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import OrgId
from backend.domain.links.links import Behavior, Link
from backend.domain.links.tags import tags_on
from backend.imports.csv_file import UnreadableCsv
from backend.imports.link_csv import read_rows
from backend.imports.link_import import ImportReport, LinkImport, RowOutcome
from backend.imports.other_services.firebase_csv import FirebaseExport, read_firebase_export
from backend.imports.report import write_left_out, write_refused
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_links
from backend.storage.links.tags import find_tags_of
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization

SAMPLE = Path(__file__).parents[3] / "docs" / "samples" / "firebase-dynamic-links.csv"
DOMAIN = "go.shop.example"
FIELDS = 29


async def run_import(
    database: Database, organization: TestOrganization, file: Path = SAMPLE
) -> tuple[FirebaseExport, ImportReport]:
    """Import a file whose links are on DOMAIN onto the organization's own."""
    export = read_firebase_export(file, {DOMAIN: organization.domain})
    links = LinkImport(database, organization.id, utc_now(), dry_run=False)
    return export, await links.run(export.rows, lambda _: None)


async def links(database: Database, organization: TestOrganization) -> dict[str, Link]:
    """The organization's links by path."""
    return {link.path: link for link in await list_links(database, organization.id, skip=0, limit=100)}


def export_of(folder: Path, *rows: dict[int, str], fields: int = FIELDS) -> Path:
    """An export without names of columns; the cells are given by their numbers in Google's list."""
    path = folder / "export.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[row.get(n + 1, "") for n in range(fields)] for row in rows])
    return path


async def test_the_sample(database: Database, organization: TestOrganization) -> None:
    """Path, destination, name, UTM, social tags, fallbacks, behaviour, state and time are taken over."""
    _, report = await run_import(database, organization)
    assert report.counts == {RowOutcome.CREATED: 3}
    links_by_path = await links(database, organization)
    spring, kite, old = links_by_path["spring"], links_by_path["app/Xy12"], links_by_path["old"]
    assert (spring.destination_url, spring.link_name) == ("https://shop.example/sale", "Spring sale")
    assert spring.utm == {"utm_source": "newsletter", "utm_medium": "email", "utm_campaign": "spring"}
    assert (spring.ios_behavior, spring.fallbacks) == (Behavior.BROWSER, {})
    assert kite.link_name == "app/Xy12"
    assert (kite.ios_behavior, kite.android_behavior) == (Behavior.APP, Behavior.APP)
    assert kite.fallbacks == {
        "ios_fallback_url": "https://shop.example/ios",
        "android_fallback_url": "https://shop.example/android",
        "desktop_url": "https://shop.example/desktop",
    }
    assert kite.social == {
        "social_title": "A kite",
        "social_description": "It flies.\nHigh.",
        "social_image_url": "https://shop.example/kite.png",
    }
    assert [link.is_enabled for link in (spring, kite, old)] == [True, True, True]
    assert spring.created_at == datetime(2023, 4, 1, 9, 30, tzinfo=UTC)
    assert kite.created_at == datetime(2023, 4, 1, 9, 10, tzinfo=UTC)


async def test_again(database: Database, organization: TestOrganization) -> None:
    """The same file a second time makes nothing."""
    await run_import(database, organization)
    _, report = await run_import(database, organization)
    assert report.counts == {RowOutcome.ALREADY_THERE: 3}


async def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    """Each value without a place is in the report, with its link and the reason."""
    export = read_firebase_export(SAMPLE, {})
    path = tmp_path / "left-out.csv"
    write_left_out(path, export.rows)
    with path.open(encoding="utf-8", newline="") as file:
        report = list(csv.DictReader(file))
    assert len(report) == 8
    assert {row["column"] for row in report} == {"amv", "imv", "ius", "at", "ct", "mt", "pt", "ipfl"}
    assert {(row["domain"], row["selected_path"]) for row in report} == {(DOMAIN, "app/Xy12")}
    assert "iPads get what iPhones get" in {row["reason"] for row in report}


def test_apps_that_are_not_set_are_named() -> None:
    """A sentence says which apps the links open and the domain lacks, and how to set them together."""
    named = read_firebase_export(SAMPLE, {}).apps[DOMAIN]
    assert named.missing(DOMAIN, OrgId("o1"), Apps()) == (
        f"Links on {DOMAIN} open apps that are not set for it: Android app com.shop.app, "
        "iOS app com.shop.app, App Store page 1234567890. "
        "A domain has one app for each system; set them in one command: "
        f"waylink app set {DOMAIN} --org o1 --ios-team-id TEAM --ios-bundle-id com.shop.app "
        "--app-store-id 1234567890 --android-package com.shop.app --android-fingerprint SHA256"
    )
    ios = IosApp("A1B2C3D4E5", "com.shop.app", "1234567890")
    assert named.missing(DOMAIN, OrgId("o1"), Apps(ios, AndroidApp("com.shop.app"))) is None
    assert "not set for it: Android app com.shop.app. " in str(named.missing(DOMAIN, OrgId("o1"), Apps(ios)))


async def test_refused_rows(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """Rows that can't be links are refused with their reasons; corrected, the report is imported as it is,
    and an archived link stays enabled, with a tag that says so."""
    place = {1: f"https://{DOMAIN}/a"}
    file = export_of(
        tmp_path,
        place | {2: "shopapp://x"},
        {1: f"https://{DOMAIN}/", 2: "https://shop.example", 28: "No path"},
        {1: "https://elsewhere.page.link/b", 2: "https://shop.example"},
        {1: f"https://{DOMAIN}/c", 2: "https://shop.example", 27: "perhaps"},
        {1: f"https://{DOMAIN}/d d", 2: "https://shop.example", 27: "TRUE", 29: "yesterday"},
    )
    export, report = await run_import(database, organization, file)
    assert [reason.partition(" must ")[0] for _, reason in report.refused] == [
        "destination_url",
        "selected_path",
        "domain elsewhere.page.link is not configured for the organization",
        "is_archived",
        "selected_path",
    ]
    assert [left_out.column for left_out in export.rows[4].left_out] == ["created"]
    refused = tmp_path / "refused.csv"
    write_refused(refused, report.refused)
    refused.write_text(refused.read_text(encoding="utf-8").replace("d d", "dd"), encoding="utf-8")
    again = LinkImport(database, organization.id, utc_now(), dry_run=False)
    corrected = await again.run(read_rows(refused), lambda _: None)
    assert corrected.counts == {RowOutcome.CREATED: 1, RowOutcome.REFUSED: 4}
    archived = (await links(database, organization))["dd"]
    assert archived.is_enabled
    tags = await find_tags_of(database, [archived])
    assert [tag.name for tag in tags_on(archived.tag_ids, tags)] == ["archived"]


def test_files_that_are_no_export(tmp_path: Path) -> None:
    """A file with other columns, or without links, is refused whole."""
    with pytest.raises(UnreadableCsv, match="Line 1 has 28 columns; an export"):
        read_firebase_export(export_of(tmp_path, {1: "https://a.example/b"}, fields=28), {})
    with pytest.raises(UnreadableCsv, match="Line 1 has 31 columns; an export"):
        read_firebase_export(export_of(tmp_path, {1: "https://a.example/b", 31: "x"}, fields=31), {})
    with_empty_end = export_of(tmp_path, {1: "https://a.example/b", 2: "https://b.example/"}, fields=31)
    assert len(read_firebase_export(with_empty_end, {}).rows) == 1
    for rows in ((), ({1: "Short link"},)):
        with pytest.raises(UnreadableCsv, match="has no links in it"):
            read_firebase_export(export_of(tmp_path, *rows), {})


async def test_columns_of_other_names(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A file with other names for its columns is imported once it is said what they hold; what is left out
    is told."""
    file = tmp_path / "other.csv"
    file.write_text(
        "link,long_url,title,tags\n"
        f"{organization.domain}/Ab3,https://shop.example/a,A,spring\n"
        f"https://{organization.domain}/x/y,https://shop.example/b,B,\n"
        f"https://{organization.domain},https://shop.example/c,C,\n"
    )
    named = {"short_url": "link", "destination_url": "long_url", "link_name": "title"}
    rows = read_rows(file, named)
    report = await LinkImport(database, organization.id, utc_now(), dry_run=False).run(rows, lambda _: None)
    assert report.counts == {RowOutcome.CREATED: 2, RowOutcome.REFUSED: 1}
    assert set(await links(database, organization)) == {"Ab3", "x/y"}
    assert [[left_out.value for left_out in row.left_out] for row in rows] == [["spring"], [], []]
    for wrong, sentence in (
        ({"destination_url": "url"}, "does not name these columns: url"),
        ({"destination_url": "long_url"}, "these are missing: domain, link_name"),
    ):
        with pytest.raises(UnreadableCsv, match=sentence):
            read_rows(file, wrong)


async def test_state_columns(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """A row may say that its link is disabled and when it was made; what is neither is refused."""
    file = tmp_path / "links.csv"
    domain = organization.domain
    file.write_text(
        "domain,selected_path,destination_url,link_name,is_enabled,created_time\n"
        f"{domain},a,https://shop.example,A,false,2024-05-31T14:00:00+02:00\n"
        f"{domain},b,https://shop.example,B,maybe,\n"
        f"{domain},c,https://shop.example,C,,yesterday\n"
    )
    report = await LinkImport(database, organization.id, utc_now(), dry_run=False).run(
        read_rows(file), lambda _: None
    )
    assert [reason.partition(" must ")[0] for _, reason in report.refused] == ["is_enabled", "created_time"]
    link = (await links(database, organization))["a"]
    assert (link.is_enabled, link.created_at) == (False, datetime(2024, 5, 31, 12, tzinfo=UTC))
