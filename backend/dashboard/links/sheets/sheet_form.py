"""The form for links from a spreadsheet: the table as text, its columns, and what all links get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of_dataclass

from backend.dashboard.frame.form import digest_of, field, form
from backend.domain.links.utm_templates import UtmTemplate
from backend.imports.sheet_rows import CommonCells
from backend.imports.spreadsheet import MOST_COLUMNS, Spreadsheet, read_spreadsheet

# The names of the fields for columns: this prefix and the place, from 0.
_COLUMN = "column-"


@dataclass(frozen=True, slots=True)
class SheetForm:
    """What somebody sent. `chosen` are the columns, by place, that they saw and may have changed.

    `columns_of` is a hash of the first row of the table that these columns are of.
    """

    text: str = ""
    domain: str = ""
    template: str = ""
    tags: str = ""
    chosen: Mapping[int, str] = field_of_dataclass(default_factory=dict)
    columns_of: str = ""

    @property
    def digest(self) -> str:
        """A hash of all fields: links are only made of what was looked at."""
        columns = sorted(self.chosen.items())
        return digest_of([self.text, self.domain, self.template, self.tags, columns])

    @property
    def first_row(self) -> str:
        """A hash of the table's first row, which tells tables apart."""
        return digest_of(self.text.partition("\n")[0])

    def spreadsheet(self) -> Spreadsheet:
        """The table, with the chosen columns if it is the one that they are of. Raises UnreadableCsv."""
        sheet = read_spreadsheet(self.text)
        return sheet.with_columns(self.chosen) if self.columns_of == self.first_row else sheet

    def common(self, templates: Sequence[UtmTemplate]) -> CommonCells:
        """What all links get. `templates` are the organization's."""
        utm = next((template.utm for template in templates if template.name == self.template), {})
        tags = [tag.strip() for tag in self.tags.split(",") if tag.strip()]
        return CommonCells(self.domain, utm, tags)


def sent_sheet_form() -> SheetForm:
    """The form of the current request."""
    # Not `field`, which would cut off tabs before the first cell or behind the last.
    text = form().get("sheet", "").strip("\n")
    chosen = {place: name for place in range(MOST_COLUMNS) if (name := _chosen(place)) is not None}
    return SheetForm(text, field("domain"), field("template"), field("tags"), chosen, field("columns_of"))


def _chosen(place: int) -> str | None:
    return form().get(f"{_COLUMN}{place}")
