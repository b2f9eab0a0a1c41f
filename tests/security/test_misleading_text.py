"""Names that read otherwise than they are, and cells that spreadsheets would run."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.accounts.organizations import NAME_RULE
from backend.domain.errors import InvalidField
from backend.domain.fields.spreadsheets import as_it_was, csv_line, inert
from backend.imports.report import write_left_out
from backend.imports.row import ImportRow, LeftOut
from tests.api.link_calls import API, create, info, invalid, link_body
from tests.examples import examples
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("field", ["link_name", "social_title", "social_description"])
@pytest.mark.parametrize("character", BIDI, ids=ascii)
async def test_bidirectional_control_characters(
    client: httpx.AsyncClient, organization: TestOrganization, field: str, character: str
) -> None:
    """A name or a preview that shows "exe.jpg" for "gpj.exe" is refused, in a new link and in a change."""
    text = f"bill{character}gpj.exe"
    message = invalid(f"{field} must not contain bidirectional control characters")
    body = link_body(organization) | {field: text}
    made = await client.post(f"{API}/create-link", json=body, headers=organization.headers)
    assert (made.status_code, made.json()) == (400, message)
    link_id = (await info(client, organization, await create(client, organization)))["id"]
    changed = await client.patch(
        f"{API}/update-link/{link_id}", json={field: text}, headers=organization.headers
    )
    assert (changed.status_code, changed.json()) == (400, message)


async def test_texts_in_any_script_are_taken(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Letters that run from right to left, joiners and emoji are no control characters."""
    for text in ("מבצע קיץ", "تخفیف می\u200cرسد", "👩\u200d🚀 sale"):
        await create(client, organization, link_name=text, social_title=text, social_description=text)


async def test_no_call_of_a_site_is_lost_for_it(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """What a site's visitors typed is stored as it is: a lead is worth more than its spelling."""
    [result] = await Visitor(client, organization).results(call("lead", name="Ada\u200f"))
    assert result["status"] == "accepted"


@pytest.mark.parametrize("name", ["", " ", "a\u202eb", "a\x1b[31mb", "x" * 201])
def test_names_of_organizations(name: str) -> None:
    """Nor does an organization's name mislead a reader, or a terminal."""
    with pytest.raises(InvalidField):
        NAME_RULE.parse("name", name)


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "＝", "＋", "－", "＠", " =", "\u3000＝", "\t", "\r"])
def test_cells_that_begin_a_formula(first: str) -> None:
    """Also as East Asian keyboards type them: some spreadsheets take both."""
    assert inert(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("inner", [",", ";", "; ", "\t", "|", "\n", "\r\n", '";', ';"', '; ""', '\t"'])
@pytest.mark.parametrize("first", ["=", "@", "＝", "-"])
def test_no_cell_begins_a_formula_by_another_separator(separator: str, inner: str, first: str) -> None:
    """Whatever a program separates cells by: it splits a cell of ours, and no piece is a formula."""
    line = csv_line(["x", f"a{inner}{first}1+1{inner}b", "y"])
    rows = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    pieces = [cell.lstrip() for row in rows for cell in row]
    assert len(pieces) >= (3 if separator == "," else 1)
    # A piece of a quoted cell that begins with the comma of our own is none either.
    assert [piece for piece in pieces if piece.startswith(tuple("=+@＝＋－＠-"))] == []


@given(st.text(alphabet="=-@＝1a'\"; |\t\r\n", max_size=12))
@settings(max_examples=examples(300))
def test_what_was_made_inert_is_read_as_it_was(cell: str) -> None:
    """Quotes that stood there stay, and only ours are taken off again."""
    assert as_it_was(inert(cell)) == cell


@pytest.mark.parametrize(
    "cell",
    ["", "a=b", "a; b=c", "https://s.test/?a=1;b=2", "1-2", "(none)", "letter", "-1.5", "-1e-06", "-20"],
)
def test_other_cells_stay(cell: str) -> None:
    """What is no formula is not touched."""
    assert inert(cell) == cell


def test_what_an_import_leaves_out_is_inert(tmp_path: Path) -> None:
    """The report of an import shows values of a file that came from elsewhere."""
    file = tmp_path / "left-out.csv"
    write_left_out(
        file, [ImportRow(2, {}, 0, (LeftOut("pt", '＝HYPERLINK("https://evil.test")', "unknown"),))]
    )
    assert "'＝HYPERLINK" in file.read_text()
