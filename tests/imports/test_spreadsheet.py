"""What people copy out of spreadsheets, and files that spreadsheets write, are read as rows of links."""

from __future__ import annotations

import pytest

from backend.imports.csv_file import UnreadableCsv
from backend.imports.sheet_rows import CommonCells, sheet_rows
from backend.imports.spreadsheet import MOST_COLUMNS, MOST_ROWS, is_address, read_spreadsheet

A, B = "https://shop.example/a", "https://shop.example/b"


def cells(text: str, common: CommonCells = CommonCells()) -> list[dict[str, str]]:  # noqa: B008 - frozen
    """The cells of the rows in a text."""
    return [row.cells for row in sheet_rows(read_spreadsheet(text), common)]


@pytest.mark.parametrize(
    "text",
    [
        f"Destination\tName\tPath\n{A}\tKites\tkites\n",
        f"\ufeffLong URL;Title;Slug\n{A};Kites;kites",
        f"destination_url,link-name,selected path,Who asked\n{A},Kites,kites,Ada",
        f"{A}\tKites\tkites",
        f"\n\t\t\nDestination\tName\tPath\n \t\t\n{A}\t Kites \tkites",
    ],
)
def test_the_same_link_in_many_forms(text: str) -> None:
    """Tabs, commas and semicolons; headings in many words, or none; empty rows and unknown columns."""
    assert cells(text) == [{"destination_url": A, "link_name": "Kites", "selected_path": "kites"}]


@pytest.mark.parametrize(
    "text",
    [
        f"Name\tZiel\nKites\t{A}\nB\t{B}",
        f"Bezeichnung;Ziel\nKites;{A}\nB;{B}",
        f"Name,Notes,Where to\nKites,soon,{A}\nB,,{B}",
    ],
)
def test_a_column_of_addresses(text: str) -> None:
    """Under a name that is not known it is taken for the destination, which the menu above it can change."""
    assert [row["destination_url"] for row in cells(text)] == [A, B]
    assert read_spreadsheet(text).headings


def test_addresses_without_a_scheme() -> None:
    """With a path they are addresses, which a file's name or a plain word is not."""
    assert cells("shop.example/x\tA\nshop.example:8080/y\tB") == [
        {"destination_url": "shop.example/x", "link_name": "A"},
        {"destination_url": "shop.example:8080/y", "link_name": "B"},
    ]
    for text in ("kite.jpg", "and/or", "a@b.example/", "5.50/piece"):
        assert not is_address(text)


def test_quoted_cells() -> None:
    """A cell with a tab, a quote or the end of a line is one cell, and rows keep their numbers."""
    sheet = read_spreadsheet(f'Destination\tName\n{A}\t"Two\n""lines"""\n\n{B}\tB')
    assert [(line.number, line.cells[1]) for line in sheet.lines] == [(2, 'Two\n"lines"'), (4, "B")]


def test_what_all_links_get() -> None:
    """A row's own cells win; tags add up; a link without a name is called by its path or its address."""
    common = CommonCells("go.shop.com", {"utm_source": "mail", "utm_campaign": "spring"}, ["a", "b"])
    text = f"Destination\tPath\tCampaign\tTags\tDomain\n{A}\tx\tautumn\tb, c\tx.shop.com\n{B}"
    assert cells(text, common) == [
        {
            "destination_url": A, "selected_path": "x", "link_name": "x", "domain": "x.shop.com",
            "utm_source": "mail", "utm_campaign": "autumn", "tags": "b,c,a",
        },
        {
            "destination_url": B, "link_name": "shop.example/b", "domain": "go.shop.com",
            "utm_source": "mail", "utm_campaign": "spring", "tags": "a,b",
        },
    ]  # fmt: skip
    [row] = cells(f"short_url,destination\nhttps://go.shop.com/p,{A}", common)
    assert (row["domain"], row["selected_path"]) == ("go.shop.com", "p")


@pytest.mark.parametrize("scheme", ["", "//", "http://", "HTTPS://"])
def test_the_name_by_an_address_as_it_was_pasted(scheme: str) -> None:
    """The scheme may be missing, as destinations may lack it; one further behind is none."""
    [row] = cells(f"destination_url\n{scheme}shop.example/?to=https://b.example")
    assert row["link_name"] == "shop.example/?to=https://b.example"


def test_equal_rows_are_links_of_their_own() -> None:
    """They differ by how many equal ones came before, and only by that."""
    first, second, other = sheet_rows(read_spreadsheet(f"{A}\n{A}\n{B}"), CommonCells())
    assert first.text != second.text != other.text
    again = sheet_rows(read_spreadsheet(f"{B}\n{A}"), CommonCells())
    assert [row.text for row in again] == [other.text, first.text]


def test_other_columns_are_chosen() -> None:
    """What somebody chooses replaces what was guessed; what is no column is left out."""
    sheet = read_spreadsheet(f"Destination\tNotes\n{A}\tKites").with_columns({1: "link_name", 7: "domain"})
    assert sheet.cells_of(sheet.lines[0]) == {"destination_url": A, "link_name": "Kites"}
    assert sheet.with_columns({0: "password"}).columns[0] is None
    assert sheet.with_columns({1: "destination_url"}).twice == ["destination_url"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\n".join([A] * (MOST_ROWS + 1)), "There are 1,001 rows, and at most 1,000"),
        ("\t".join([A] * (MOST_COLUMNS + 1)), "There are 41 columns, and at most 40"),
        (f"{A}\t{'x' * 200_000}", "This can't be read as a table"),
    ],
)
def test_what_is_too_much(text: str, problem: str) -> None:
    """It is refused as a whole, and says why."""
    with pytest.raises(UnreadableCsv, match=problem):
        read_spreadsheet(text)
