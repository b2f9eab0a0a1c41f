"""What a feed becomes in files, and how they are gone on with."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import START
from backend.domain.feed.events import USUAL_TYPES, EventType
from backend.domain.ids import OrgId
from backend.follow import event_lines
from backend.follow.event_lines import LineForm
from backend.follow.files import FileTarget
from backend.follow.target import FollowedFeed, TargetMismatch, TargetTaken
from tests.follow.made_events import ORG, conversion, event

ALL = FollowedFeed(ORG, USUAL_TYPES, START)


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


async def written(path: Path, form: LineForm, *events: object) -> None:
    """Add these events to a file, as one run does."""
    target = FileTarget(path, form)
    await target.open(ALL)
    for new_event in events:
        await target.write([new_event], new_event.cursor)  # type: ignore[list-item, attr-defined]
    await target.close()


async def test_a_table_has_a_column_for_each_field(tmp_path: Path) -> None:
    """Fields stand in columns, those without one as JSON in the last; formulas are inert."""
    path = tmp_path / "events.csv"
    touch = {"link_id": "L", "utm": {"utm_source": "=cmd()"}}
    sale = conversion(touch=touch, later={"n": 1}, told_again=True)
    click = event(EventType.CLICK, link_id="L", counted=False, reason='a "bot"\r\n', variant=None)
    await written(path, LineForm.CSV, sale, click)
    first, second = table(path)
    assert first["id"] == sale.id
    assert (first["conversion_id"], first["revenue"], first["told_again"]) == (
        sale.data["id"],
        "59.90",
        "true",
    )
    assert (first["touch_link_id"], first["touch_utm_source"]) == ("L", "'=cmd()")
    assert (first["metadata"], first["more"]) == ('{"color":"red"}', '{"later.n":1}')
    assert (second["type"], second["link_id"], second["counted"]) == ("click", "L", "false")
    assert (second["reason"], second["variant"], second["more"]) == ('a "bot"\r\n', "", "")


async def test_columns_stay_as_they_were_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that an earlier version began keeps its columns; what that did not know is in the last."""
    path = tmp_path / "events.csv"
    monkeypatch.setattr(event_lines, "_data_columns", lambda: ["currency"])
    await written(path, LineForm.CSV, conversion())
    monkeypatch.undo()
    await written(path, LineForm.CSV, conversion())
    rows = table(path)
    assert list(rows[1]) == ["id", "type", "at", "org_id", "currency", "more"]
    assert [json.loads(row["more"])["revenue"] for row in rows] == ["59.90", "59.90"]


@pytest.mark.parametrize("form", LineForm)
async def test_an_unfinished_end_is_cut_off(form: LineForm, tmp_path: Path) -> None:
    """What is in the file behind the kept cursor was not finished: the next run writes it again."""
    path = tmp_path / "events"
    await written(path, form)
    path.write_bytes(b"id,ty")
    await written(path, form, conversion())
    finished = path.read_bytes()
    path.write_bytes(finished + finished[: len(finished) // 2])
    await written(path, form)
    assert path.read_bytes() == finished
    assert path.stat().st_mode & 0o077 == 0
    assert (tmp_path / "events.cursor").stat().st_mode & 0o077 == 0


async def test_a_file_that_was_moved_away_is_begun_again(tmp_path: Path) -> None:
    """Behind what the moved one has, with names of columns: together they have everything once."""
    path = tmp_path / "events.csv"
    events = [conversion(), conversion()]
    await written(path, LineForm.CSV, events[0])
    path.rename(tmp_path / "may.csv")
    target = FileTarget(path, LineForm.CSV)
    assert await target.open(ALL) == events[0].cursor
    await target.write(events[1:], events[1].cursor)
    await target.close()
    assert [row["id"] for name in ("may.csv", "events.csv") for row in table(tmp_path / name)] == [
        stored.id for stored in events
    ]


async def test_what_is_not_gone_on_with(tmp_path: Path) -> None:
    """A file of somebody else, of another organization, form or types, or that was cut, is left alone."""
    path = tmp_path / "events.csv"
    await written(path, LineForm.CSV, conversion())
    whole = path.read_bytes()
    sales = FollowedFeed(ORG, frozenset({EventType.CONVERSION}), START)
    await refused(path, ALL, "was begun with --into csv", LineForm.NDJSON)
    await refused(path, FollowedFeed(OrgId("other"), ALL.types, START), f"events of the organization {ORG}")
    await refused(path, sales, "was begun with all types")
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-1])
    await refused(path, ALL, "is shorter than what was written")
    beside = tmp_path / "events.csv.cursor"
    beside.write_text("{}")
    await refused(path, ALL, "is damaged")
    beside.unlink()
    await refused(path, ALL, r"without events\.csv\.cursor beside it")


async def refused(path: Path, followed: FollowedFeed, message: str, form: LineForm = LineForm.CSV) -> None:
    """The file is not gone on with, for this reason."""
    target = FileTarget(path, form)
    with pytest.raises(TargetMismatch, match=message):
        await target.open(followed)
    await target.close()


async def test_one_follower_has_a_file(tmp_path: Path) -> None:
    """A second one is refused; where the file can't be, it is told what to do."""
    path = tmp_path / "events"
    first = FileTarget(path, LineForm.NDJSON)
    await first.open(ALL)
    with pytest.raises(TargetTaken):
        await FileTarget(path, LineForm.NDJSON).open(ALL)
    await first.close()
    with pytest.raises(OperatorError, match="No such file or directory"):
        await FileTarget(tmp_path / "none" / "events", LineForm.NDJSON).open(ALL)
