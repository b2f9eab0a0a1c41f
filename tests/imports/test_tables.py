"""Tables as spreadsheets of all kinds write them: one reader for files, pasted texts and other services."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.errors import InvalidField
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.fields.times.written_times import written_moment
from backend.imports.csv_file import lines_of_table, read_lines
from backend.imports.link_csv import read_rows
from backend.imports.other_services.preset_rows import read_preset
from backend.imports.other_services.presets import PRESETS
from backend.imports.row import ImportRow, parse_flag
from backend.imports.spreadsheet import read_spreadsheet

NAMES = ("domain", "destination_url", "link_name")
ROWS = [NAMES, ("go.test", "https://shop.example/größe", "Größe „L“, rot")]


def table(separator: str, *, end: str = "\r\n") -> str:
    """The rows with this between their cells."""
    quoted = [[f'"{cell}"' if separator in cell else cell for cell in row] for row in ROWS]
    return "".join(separator.join(row) + end for row in quoted)


def cells(path: Path) -> list[dict[str, str]]:
    """The cells of the rows of a file of links."""
    return [row.cells for row in read_rows(path)]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_separator_and_encoding(tmp_path: Path, separator: str, encoding: str) -> None:
    """The same links, whatever wrote the file."""
    file = tmp_path / "links.csv"
    for text in (table(separator), table(separator, end="\n")):
        file.write_bytes(text.encode(encoding))
        assert cells(file) == [dict(zip(NAMES, ROWS[1], strict=True))]


@pytest.mark.parametrize(
    "told",
    ["sep=;\n", "sep=;\r\n", '"sep=;"\r\n', "SEP=;\n", "sep=|\n", "sep=,\n", "sep=;;;\r\n", '"sep=;";;\r\n'],
)
def test_a_line_that_tells_the_separator(tmp_path: Path, told: str) -> None:
    """Excel's own line decides, and rows keep the numbers that an editor shows."""
    separator = told.strip('"')[4]
    text = told + table(separator)
    (tmp_path / "links.csv").write_text(text, encoding="utf-8")
    assert cells(tmp_path / "links.csv") == [dict(zip(NAMES, ROWS[1], strict=True))]
    assert [line.number for line in lines_of_table(text)] == [2, 3]
    assert [line.number for line in read_lines(tmp_path / "links.csv")] == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        '"domain";"destination\n url";link_name\r\n"go.test";https://a.example/?a,b;"A\nB"\r\n',
        '"link_name";"destination_url\n";domain\n"A\nB";"https://a.example/?a,b";go.test\r',
        'domain, "destination_url", link_name\r\ngo.test, "https://a.example/?a,b", "A\nB"\r\n\x1a',
        'sep=;,,\r\ndomain,destination_url,link_name\r\ngo.test,"https://a.example/?a,b","A\nB"\r',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_what_quotes_hold(tmp_path: Path, text: str, encoding: str) -> None:
    """The ends of lines and separators in quotes are a part of their cell, also in the first row."""
    (tmp_path / "links.csv").write_bytes(text.encode(encoding))
    meant = {"domain": "go.test", "destination_url": "https://a.example/?a,b", "link_name": "A\nB"}
    assert cells(tmp_path / "links.csv") == [meant]
    sheet = read_spreadsheet(text)
    assert [sheet.cells_of(line) for line in sheet.lines] == [meant]


def test_quotes_that_hold_nothing(tmp_path: Path) -> None:
    """Where a table has no blanks behind its separators, a quote behind a blank is a part of the cell."""
    text = 'domain,destination_url,link_name\ngo.test,https://a.example/, "Sale" for kites\n'
    (tmp_path / "links.csv").write_text(text, encoding="utf-8")
    assert [row["link_name"].strip() for row in cells(tmp_path / "links.csv")] == ['"Sale" for kites']


def test_a_stray_zero_is_no_utf_16(tmp_path: Path) -> None:
    """The names of the columns are read, and what is wrong is told of the row that has the zero."""
    text = "domain;destination_url;link_name\ngo.test;https://a.example/;Spr\x00ing\n"
    (tmp_path / "links.csv").write_text(text, encoding="utf-8")
    assert [row["link_name"] for row in cells(tmp_path / "links.csv")] == ["Spr\x00ing"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_other_scripts_in_utf_16(tmp_path: Path, encoding: str) -> None:
    """Without a mark, it is told by few Latin letters, too."""
    name = "Весенняя распродажа " * 40
    file = tmp_path / "links.csv"
    file.write_bytes(
        f"domain;destination_url;link_name\r\ngo.test;https://a.example/;{name}\r\n".encode(encoding)
    )
    assert [row["link_name"] for row in cells(file)] == [name.strip()]


@pytest.mark.parametrize(
    "head",
    [
        "Domain,Destination_URL,Link_Name",
        " DOMAIN , destination url , Link-Name ",
        "domain,destination_url,link_name,,",
        "domain,destination_url,link_name,  ,",
        "\ufeff\ufeffdomain,destination\u200b_url,\u00a0link_name,,",
    ],
)
def test_names_of_columns(tmp_path: Path, head: str) -> None:
    """In any case, with blanks or hyphens; columns without a name at the end are none."""
    file = tmp_path / "links.csv"
    file.write_text(f"{head}\r\ngo.test, https://a.example/ ,A,,\r\n, , ,,\r\n,,\r\n\r\n", encoding="utf-8")
    assert cells(file) == [{"domain": "go.test", "destination_url": "https://a.example/", "link_name": "A"}]


@pytest.mark.parametrize(
    "destination", ["https://s.example/?a=1;-b", "https://s.example/x|=y", "https://s.example/;'@"]
)
def test_what_our_own_files_have_is_read_as_it_was(tmp_path: Path, destination: str) -> None:
    """Quotes that keep spreadsheets from running a cell are taken off again, also in pasted tables."""
    rows = [NAMES, ("go.test", destination, "=Sale; -20")]
    text = "".join(map(csv_line, rows))
    assert destination not in text
    (tmp_path / "links.csv").write_text(text, encoding="utf-8")
    meant = [dict(zip(NAMES, rows[1], strict=True))]
    assert cells(tmp_path / "links.csv") == meant
    sheet = read_spreadsheet(text)
    assert [sheet.cells_of(line) for line in sheet.lines] == meant


def test_a_cell_without_a_column_is_told(tmp_path: Path) -> None:
    """What stands below no name is reported and imported nowhere."""
    file = tmp_path / "links.csv"
    file.write_text(
        "domain,destination_url,link_name,\ngo.test,https://a.example/,A,note\n", encoding="utf-8"
    )
    [row] = read_rows(file)
    assert [(left_out.column, left_out.value) for left_out in row.left_out] == [("(no name)", "note")]


def test_given_names_of_columns(tmp_path: Path) -> None:
    """`--column` finds a name in any case, with blanks around it."""
    file = tmp_path / "links.csv"
    file.write_text(" Ziel ;NAME;Domain\nhttps://a.example/;A;go.test\n", encoding="utf-8")
    [row] = read_rows(file, {"destination_url": "ziel", "link_name": "Name", "domain": "domain"})
    assert row.cells == {"destination_url": "https://a.example/", "link_name": "A", "domain": "go.test"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("service", PRESETS)
def test_other_services_too(tmp_path: Path, service: str, separator: str, encoding: str) -> None:
    """A table of each service is read by the same reader."""
    preset = PRESETS[service]
    short, long = preset.named["short_url"][0], preset.named["destination_url"][0]
    file = tmp_path / "links.csv"
    lines = [
        [short.upper(), f" {long} ", "", ""],
        ["https://go.test/ä", "https://shop.example/ü", "", ""],
        [""],
    ]
    file.write_bytes("\r\n".join(separator.join(line) for line in lines).encode(encoding))
    [row] = read_preset(file, preset, {}, {})
    assert (row.cells["domain"], row.cells["destination_url"]) == ("go.test", "https://shop.example/ü")


def parsed(**fields: str) -> ImportRow:
    """A row with these cells."""
    fewest = {"domain": "go.test", "destination_url": "https://a.example/", "link_name": "A"}
    return ImportRow(2, fewest | fields, 0)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("31.05.2024 12:00", datetime(2024, 5, 31, 12, tzinfo=UTC)),
        ("1.2.2030", datetime(2030, 2, 1, tzinfo=UTC)),
        ("01.02.2030, 08:05:09", datetime(2030, 2, 1, 8, 5, 9, tzinfo=UTC)),
        ("2030-02-01 08:05", datetime(2030, 2, 1, 8, 5, tzinfo=UTC)),
        ("20300201", datetime(2030, 2, 1, tzinfo=UTC)),
        ("2030/2/1", datetime(2030, 2, 1, tzinfo=UTC)),
        ("2030.02.01 08:05", datetime(2030, 2, 1, 8, 5, tzinfo=UTC)),
        ("2030-02-01 08:05:09 UTC", datetime(2030, 2, 1, 8, 5, 9, tzinfo=UTC)),
        ("31/05/2024 12.30", datetime(2024, 5, 31, 12, 30, tzinfo=UTC)),
        ("5/31/2024 3:07 PM", datetime(2024, 5, 31, 15, 7, tzinfo=UTC)),
        ("5/31/2024, 3:07:00\u202fPM", datetime(2024, 5, 31, 15, 7, tzinfo=UTC)),
        ("5/31/2024, 12:07:08 am", datetime(2024, 5, 31, 0, 7, 8, tzinfo=UTC)),
        ("31-05-2024", datetime(2024, 5, 31, tzinfo=UTC)),
        ("06/06/2024", datetime(2024, 6, 6, tzinfo=UTC)),
        ("1717156800", datetime(2024, 5, 31, 12, tzinfo=UTC)),
        ("1717156800000", datetime(2024, 5, 31, 12, tzinfo=UTC)),
    ],
)
def test_times_that_are_certain(text: str, at: datetime) -> None:
    """With dots the day comes first, in every country that writes dots; eight digits are a day; with slashes
    it is certain where one number is no month."""
    assert written_moment(text) == at
    assert parsed(starts_at=text).parse().new.fields["starts_at"] == at


@pytest.mark.parametrize(
    "text",
    [
        "05/06/2024",
        "31.13.2024",
        "13/13/2024",
        "2024/31/05",
        "5-6-2024",
        "5/31/24",
        "5/31/2024 13:07 PM",
        "31.05/2024",
        "45443.5",
        "45443",
        "tomorrow",
        "1.2.24",
        "20241331",
        "20240531120000",
        "2024",
        "1717156800000000",
    ],
)
def test_times_that_are_not(text: str) -> None:
    """What two countries read differently, and the number that a spreadsheet has for a day, are refused."""
    with pytest.raises(InvalidField, match=f"^expires_at must be a time such as .*, not {text}$"):
        parsed(expires_at=text).parse()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("VERO", True),
        ("YANLIŞ", False),
        ("yanlış", False),
        ("Sim", True),
        ("fałsz", False),
        ("ИСТИНА", True),
        ("não", False),
        ("WAHR", True),
        ("Falsch", False),
        ("VRAI", True),
        ("faux", False),
        ("TRUE", True),
        ("Nein", False),
    ],
)
def test_flags_of_other_languages(text: str, value: bool) -> None:
    """A spreadsheet writes true and false in the language of its user."""
    assert parse_flag("is_enabled", text) is value


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"selected_path": "1.23E+11"}, "selected_path must not be 1.23E+11: a spreadsheet has shortened"),
        ({"utm_campaign": "1,23457E+15"}, "utm_campaign must not be 1,23457E+15: a spreadsheet"),
        ({"link_name": "#REF!"}, "link_name must not be #REF!, which is an error of the spreadsheet"),
        ({"utm_term": "#N/A"}, "utm_term must not be #N/A"),
        ({"selected_path": "_root"}, "set the root_url of the domain to https://a.example/ instead"),
        ({"selected_path": "/"}, "set the root_url of the domain to https://a.example/ instead"),
    ],
)
def test_what_a_spreadsheet_has_lost(fields: dict[str, str], reason: str) -> None:
    """The value is named, and what became of it."""
    with pytest.raises(InvalidField) as refused:
        parsed(**fields).parse()
    assert reason in str(refused.value)


def test_whole_numbers() -> None:
    """`5.0` and `5,0` are five; `5,000` is five in some countries, and five thousand in others."""
    for text in ("5", "5.0", "5,00"):
        assert parsed(max_clicks=text).parse().new.fields["max_clicks"] == 5
    for text in ("5,000", "5.000"):
        with pytest.raises(InvalidField, match="max_clicks must be a whole number"):
            parsed(max_clicks=text).parse()


def test_a_single_column_has_whole_addresses() -> None:
    """Where the first row has one cell, commas and semicolons are those of addresses."""
    for head in ("destination_url", "https://a.example/", '"destination_url"'):
        table = lines_of_table(f"{head}\nhttps://a.example/b,c;d\n")
        assert table[1].cells == ["https://a.example/b,c;d"]


def test_what_is_quoted_separates_nothing() -> None:
    """A heading with separators in quotes does not decide what separates cells."""
    for quoted in ('"b; c; d"', '"b\tc"'):
        assert lines_of_table(f"a,{quoted}\n1,2\n")[1].cells == ["1", "2"]
    assert lines_of_table('a;"b, c, d"\n1;2\n')[1].cells == ["1", "2"]


@pytest.mark.parametrize(
    ("short_url", "path", "told"),
    [
        ("https://go.test/spring?utm_source=mail#top", "spring", ["?utm_source=mail", "#top"]),
        ("go.test/Spr%69ng%2Dsale", "Spring-sale", []),
        ("go.test/two%20words", "two%20words", []),
        ("go.test/früh", "früh", []),
    ],
)
def test_short_urls(tmp_path: Path, short_url: str, path: str, told: list[str]) -> None:
    """Letters that need no encoding are taken as they are meant, a query is told as left out, and what no
    path may have is refused as it is written. Files of links and of other services are read alike."""
    file = tmp_path / "links.csv"
    file.write_text(f"link,long_url,title\n{short_url},https://shop.example/,A\n", encoding="utf-8")
    names = {"short_url": "link", "destination_url": "long_url", "link_name": "title"}
    for [row] in (read_rows(file, names), read_preset(file, PRESETS["bitly"], {}, {})):
        assert (row.cells["domain"], row.cells["selected_path"]) == ("go.test", path)
        assert [left_out.value for left_out in row.left_out] == told
        if not path.replace("-", "").isascii() or "%" in path:
            with pytest.raises(InvalidField, match="selected_path must be segments of letters"):
                row.parse()
