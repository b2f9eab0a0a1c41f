"""Links from files of other services."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.links.links import Link
from backend.domain.links.tags import tags_on
from backend.imports.link_import import LinkImport, RowOutcome
from backend.imports.other_services.foreign_links import UnreadableLinks
from backend.imports.other_services.preset_rows import read_preset
from backend.imports.other_services.presets import PRESETS
from backend.imports.report import write_left_out
from backend.imports.row import ImportRow
from backend.storage.accounts.users.passwords import is_password
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_links
from backend.storage.links.tags import find_tags_of
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.imports import services

SPRING = datetime(2023, 4, 1, 9, 30, tzinfo=UTC)


def read(
    folder: Path, service: str, content: str, defaults: dict[str, str] | None = None, domain: str = ""
) -> list[ImportRow]:
    """The rows of a file with this content."""
    file = folder / "export"
    file.write_text(content, encoding="utf-8", newline="")
    return read_preset(file, PRESETS[service], {services.DOMAIN: domain} if domain else {}, defaults or {})


async def imported(
    database: Database, organization: TestOrganization, rows: list[ImportRow]
) -> dict[str, Link]:
    """Import the rows, of which none may be refused; the organization's links by path."""
    report = await LinkImport(database, organization.id, utc_now(), dry_run=False).run(rows, lambda _: None)
    assert report.refused == []
    assert report.counts == {RowOutcome.CREATED: len(rows)}
    return {link.path: link for link in await list_links(database, organization.id, skip=0, limit=100)}


def left_out(rows: list[ImportRow]) -> set[str]:
    """The fields of the file that were left out."""
    return {value.column for row in rows for value in row.left_out}


TAGS_OF_SPRING = {
    services.BITLY: ["spring", "mail"],
    services.SHORTIO: ["spring"],
    services.REBRANDLY: ["spring"],
    services.DUB: ["spring"],
    services.DUB_CSV: ["spring", "mail"],
    services.SHLINK: ["spring"],
    services.SHLINK_CSV: ["spring", "mail"],
}


@pytest.mark.parametrize(
    ("name", "content", "clicks", "columns"),
    [
        ("bitly", services.BITLY, None, set()),
        ("shortio", services.SHORTIO, None, set()),
        ("rebrandly", services.REBRANDLY, 42, set()),
        ("dub", services.DUB, 1042, set()),
        ("dub", services.DUB_CSV, 1042, {"Leads"}),
        ("kutt", services.KUTT, 17, {"password"}),
        ("yourls", services.YOURLS, 1042, set()),
        ("yourls", services.YOURLS_CSV, 1042, set()),
        ("shlink", services.SHLINK, 1042, set()),
        ("shlink", services.SHLINK_CSV, 1042, set()),
    ],
    ids=[
        "bitly", "shortio", "rebrandly", "dub", "dub-csv", "kutt", "yourls", "yourls-csv", "shlink",
        "shlink-csv",
    ],
)  # fmt: skip
async def test_each_service(
    database: Database,
    organization: TestOrganization,
    tmp_path: Path,
    name: str,
    content: str,
    clicks: int | None,
    columns: set[str],
) -> None:
    """Path, destination, name, state, time, tags and clicks are taken over; what has no place is told, and no
    id or owner is."""
    defaults = {"domain": services.DOMAIN} if content == services.YOURLS_CSV else {}
    rows = read(tmp_path, name, content, defaults, organization.domain)
    links = await imported(database, organization, rows)
    spring = links["spring"]
    assert spring.destination_url.startswith("https://shop.example/sale")
    has_title = content not in {services.DUB_CSV, services.YOURLS_CSV}
    assert spring.link_name == ("Spring sale" if has_title else "spring")
    # Kutt does not tell passwords, and nobody may get past one unasked.
    assert spring.is_enabled is (name != "kutt")
    assert spring.created_at == SPRING or content == services.YOURLS_CSV
    history = spring.imported_clicks
    assert (history.count, history.source) == (clicks, PRESETS[name].service) if history else not clicks
    assert left_out(rows) == columns
    tags = await find_tags_of(database, [spring])
    assert [tag.name for tag in tags_on(spring.tag_ids, tags)] == TAGS_OF_SPRING.get(content, [])
    # Archived links go on working; those that Kutt banned do not.
    old = [link for path, link in links.items() if "old" in path]
    assert [link.is_enabled for link in old] in ([], [name != "kutt"])
    tags = await find_tags_of(database, old)
    tagged = [[tag.name for tag in tags_on(link.tag_ids, tags)] for link in old]
    assert tagged in ([], [[] if name == "kutt" else ["archived"]])


def test_addresses_for_countries_and_phones_become_rules(tmp_path: Path) -> None:
    """Phones first, countries of one address in one rule; what can't be one is named and loses no other."""
    shop, app = "https://shop.example", "https://apps.apple.com/app/id1"
    geo = {"DE": f"{shop}/de", "at": f"{shop}/de", "FR": f"{shop}/fr", "XX": f"{shop}/xx", "IT": "mailto:a@b"}
    link = {"shortLink": "https://go.test/a", "url": shop, "ios": app, "android": "intent://x", "geo": geo}
    for_phones = {"if": {"platform": ["ios"]}, "then": {"destination_url": app}}
    german = {"if": {"country": ["DE", "AT"]}, "then": {"destination_url": f"{shop}/de"}}
    french = {"if": {"country": ["FR"]}, "then": {"destination_url": f"{shop}/fr"}}
    [row] = rows = read(tmp_path, "dub", json.dumps([link]), {}, "go.test")
    assert row.parse().new.fields["rules"] == [for_phones, german, french]
    assert left_out(rows) == {"android", "geo.XX", "geo.IT"}
    cell = json.dumps(geo).replace('"', '""')
    for text, rules in ((f'"{cell}"', [german, french]), ("Germany", None)):
        rows = read(tmp_path, "dub", f"shortLink,url,geo\nhttps://go.test/a,{shop},{text}\n", {}, "go.test")
        assert rows[0].parse().new.fields.get("rules") == rules
        assert left_out(rows) == ({"geo.XX", "geo.IT"} if rules else {"geo"})
    phones = {"secureShortURL": "https://go.test/a", "originalURL": shop, "iphoneURL": app}
    [row] = read(tmp_path, "shortio", json.dumps({"links": [phones]}), {}, "go.test")
    assert row.parse().new.fields["rules"] == [for_phones]


END = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("shortio", services.SHORTIO, {"expires_at": END}),
        ("dub", services.DUB, {"expires_at": END}),
        ("kutt", services.KUTT, {"expires_at": END}),
        ("shlink", services.SHLINK, {"expires_at": END, "max_clicks": 2000 - 1042}),
    ],
)
async def test_limits_are_taken_over(
    database: Database,
    organization: TestOrganization,
    tmp_path: Path,
    name: str,
    content: str,
    expected: dict[str, object],
) -> None:
    """Ends, limits of clicks (without those that were counted there) and passwords hold here as well."""
    links = await imported(database, organization, read(tmp_path, name, content, {}, organization.domain))
    limits = links["spring"].limits
    assert {key: value for key, value in limits.by_name.items() if key != "password_hash"} == expected
    assert await is_password("sesame", limits.password_hash, "a") is (name == "dub")


async def test_limits_in_a_file_of_ours(database: Database, organization: TestOrganization) -> None:
    """A link whose clicks were used up, or whose password is not known, is made and disabled; one that was
    imported without its limits is the same row."""
    place = {"domain": organization.domain, "destination_url": "https://shop.example/", "link_name": "n"}
    kinds = {
        "open": {"max_clicks": "10", "imported_clicks": "9", "starts_at": "2026-01-01"},
        "used-up": {"max_clicks": "10", "imported_clicks": "10"},
        "unknown": {"has_password": "true"},
        "known": {"has_password": "true", "password": "sesame"},
    }
    rows = [
        ImportRow(number, place | {"selected_path": path} | cells, 0)
        for number, (path, cells) in enumerate(kinds.items())
    ]
    links = await imported(database, organization, rows)
    assert {path: link.is_enabled for path, link in links.items()} == {
        "open": True, "used-up": False, "unknown": False, "known": True,
    }  # fmt: skip
    assert links["open"].limits.max_clicks == 1
    assert links["open"].limits.starts_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert rows[3].text == ImportRow(3, place | {"selected_path": "known"}, 0).text


async def test_names_that_are_missing(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A link without a title is called by its path, or by what `--default` says."""
    rows = read(tmp_path, "bitly", services.BITLY, {}, organization.domain)
    assert [row.cells["link_name"] for row in rows] == ["Spring sale", "Spring sale", "2old"]
    named = {"link_name": "{path} of {long_url}"}
    rows = read(tmp_path, "bitly", services.BITLY, named, organization.domain)
    links = await imported(database, organization, rows)
    assert links["2old"].link_name == "2old of https://shop.example/old"


async def test_utm_and_previews(database: Database, organization: TestOrganization, tmp_path: Path) -> None:
    """UTM fields are taken over; a preview's texts only where the service showed them."""
    short = await imported(
        database, organization, read(tmp_path, "shortio", services.SHORTIO, {}, organization.domain)
    )
    assert short["spring"].utm == {
        "utm_source": "mail",
        "utm_medium": "email",
        "utm_campaign": "spring",
    }
    spring, old = (row.cells for row in read(tmp_path, "dub", services.DUB))
    assert (spring["utm_source"], spring["utm_campaign"]) == ("mail", "spring")
    assert spring["social_title"] == "Spring sale"
    assert spring["social_description"] == "Everything must go"
    assert spring["social_image_url"] == "https://shop.example/sale.png"
    assert "social_title" not in old


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("rebrandly", services.REBRANDLY, "forwardParameters"),
        ("shlink", services.SHLINK.replace("forwardQuery", "domain"), "forwardQuery"),
    ],
    ids=["rebrandly", "shlink"],
)
def test_what_is_passed_on(tmp_path: Path, name: str, content: str, field: str) -> None:
    """A link that passed on no query parameters is told: here it would. One that did is not."""
    told = [
        field in left_out(read(tmp_path, name, content.replace('"title"', f'"{field}": {value}, "title"')))
        for value in ("true", "false")
    ]
    assert told == [False, True]


def test_where_each_service_was_read() -> None:
    """Each preset names public pages, and docs/moving-in.md names every one of them."""
    page = Path("docs/moving-in.md").read_text(encoding="utf-8")
    for preset in PRESETS.values():
        assert preset.read_at
        assert [url for url in preset.read_at if url not in page] == []
        assert all(url.startswith("https://") for url in preset.read_at)


def test_every_short_url_of_a_bitly_link(tmp_path: Path) -> None:
    """A custom short URL is a link of its own; the one on bit.ly, which only Bitly serves, is left out
    where there are others, and moved where that is asked for."""
    content = services.BITLY.replace(f"{services.DOMAIN}/3kXyZ1a", "bit.ly/3kXyZ1a")
    rows = read(tmp_path, "bitly", content)
    assert [row.cells["selected_path"] for row in rows] == ["spring", "2old"]
    assert ("short_url", "https://bit.ly/3kXyZ1a") in [
        (value.column, value.value) for value in rows[0].left_out
    ]
    file = tmp_path / "export"
    moved = read_preset(file, PRESETS["bitly"], {"bit.ly": "go.shop.example"}, {})
    assert [(row.cells["domain"], row.cells["selected_path"]) for row in moved[:2]] == [
        ("go.shop.example", "3kXyZ1a"),
        (services.DOMAIN, "spring"),
    ]


def test_bitly_csv(tmp_path: Path) -> None:
    """A CSV file may have the API's names or the three headings that are known of Bitly's own export."""
    content = f"Link,Custom Link,Destination URL\nbit.ly/1a,{services.DOMAIN}/spring,https://shop.example/s\n"
    [row] = read(tmp_path, "bitly", content)
    assert (row.cells["domain"], row.cells["selected_path"]) == (services.DOMAIN, "spring")
    content = f"link,long_url,title,created_at\nhttps://{services.DOMAIN}/a,https://shop.example/a,,2023\n"
    [row] = read(tmp_path, "bitly", content)
    assert row.cells["link_name"] == "a"


def test_several_answers_in_a_file(tmp_path: Path) -> None:
    """The pages of an API may follow one another, stand in a list, or be bare links."""
    pages = services.KUTT + "\n" + services.KUTT.replace("spring", "summer").replace("old", "older")
    paths = ["spring", "old", "summer", "older"]
    assert [row.cells["selected_path"] for row in read(tmp_path, "kutt", pages)] == paths
    listed = f"[{services.KUTT}, {services.KUTT.replace('spring', 'summer').replace('old', 'older')}]"
    assert [row.cells["selected_path"] for row in read(tmp_path, "kutt", listed)] == paths
    bare = "\n".join(json.dumps(link) for link in json.loads(services.KUTT)["data"])
    assert [row.line for row in read(tmp_path, "kutt", bare)] == [1, 2]


def test_the_table_of_yourls(tmp_path: Path) -> None:
    """YOURLS' own table as CSV has paths without a domain, which `--default` names."""
    content = (
        "keyword,url,title,timestamp,ip,clicks\n"
        "spring,https://shop.example/sale,Spring sale,2023-04-01 09:30:00,203.0.113.7,1042\n"
    )
    [row] = read(tmp_path, "yourls", content, {"domain": services.DOMAIN})
    assert row.cells == {
        "domain": services.DOMAIN,
        "selected_path": "spring",
        "destination_url": "https://shop.example/sale",
        "link_name": "Spring sale",
        "created_time": SPRING.isoformat(),
        "imported_clicks": "1042",
        "imported_from": "YOURLS",
    }


def test_a_password_is_not_copied(tmp_path: Path) -> None:
    """The report of what was left out says that a link had a password, and not which."""
    path = tmp_path / "left-out.csv"
    write_left_out(path, read(tmp_path, "kutt", services.KUTT))
    text = path.read_text(encoding="utf-8")
    assert "sesame" not in text
    assert ("password", "(set)") in {
        (row["column"], row["value"]) for row in csv.DictReader(text.splitlines())
    }


def test_half_of_an_emoji(tmp_path: Path) -> None:
    """A name that a service cut within a character is taken, and told in the report, with a mark."""
    link = {
        "shortLink": f"https://{services.DOMAIN}/a",
        "url": "https://shop.example/",
        "title": "Sale \ud83d",
        "note \ud83d": "\ude00",
        "geo": '{"DE": "ftp://\\ud83d"}',
    }
    rows = read(tmp_path, "dub", json.dumps(link))
    assert rows[0].cells["link_name"] == "Sale \ufffd"
    told = write_left_out(tmp_path / "left-out.csv", rows).read_text(encoding="utf-8")
    assert "note \ufffd,\ufffd," in told
    assert "geo.DE,ftp://\ufffd," in told


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bitly", services.BITLY.replace('"mail"', '"mail, printed"')),
        ("dub", services.DUB.replace('"name": "spring"', '"name": "spring, sale"')),
        ("shlink", services.SHLINK_CSV.replace("spring|mail", '"spring|mail, printed"')),
    ],
    ids=["bitly", "dub", "shlink-csv"],
)
def test_a_tag_with_a_comma_is_told(tmp_path: Path, name: str, content: str) -> None:
    """No tag here has a comma in its name: such a one is left out whole, and no two others are made of it."""
    rows = read(tmp_path, name, content)
    told = [value.value for row in rows for value in row.left_out if value.column == "tags"]
    assert told == ["spring, sale" if name == "dub" else "mail, printed"]
    assert {row.cells.get("tags", "") for row in rows} <= {"", "spring", "mail"}


def test_a_time_in_another_form_is_told(tmp_path: Path) -> None:
    """A link whose time of creation can't be read is imported without it."""
    [row] = read(tmp_path, "rebrandly", services.REBRANDLY.replace("2023-04-01T09:30:00.000Z", "in spring"))
    assert "created_time" not in row.cells
    assert ("created_time", "in spring") in [(value.column, value.value) for value in row.left_out]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "kutt",
            services.DUB,
            "no links of Kutt: none has link or link.url, and target. The file's fields are",
        ),
        ("kutt", '{"total": 0, "data": []}', "has no links in it"),
        ("kutt", "", "has no links in it"),
        ("kutt", '{"data": [', "is not JSON"),
        ("kutt", '{"data": ["spring"]}', "no link"),
        ("kutt", "link,target\na,b,c\n", "Line 2 has 3 columns; the first line names 2"),
        ("yourls", services.YOURLS_CSV, "--default domain=go.shop.com"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    """A file without such links is refused whole, with one sentence that says what it has."""
    with pytest.raises(UnreadableLinks, match=sentence):
        read(tmp_path, name, content)
