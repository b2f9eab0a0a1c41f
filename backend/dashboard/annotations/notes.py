"""/annotations: the notes that charts show, and the forms to add and change one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.marks import when_of
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.frame.saw import is_unchanged, of_stored, stored_fields
from backend.domain.accounts.permissions import Permission
from backend.domain.annotations.annotation import ANNOTATIONS, LONGEST_TEXT, Annotation, NotedTime
from backend.domain.errors import InvalidField
from backend.domain.ids import AnnotationId, LinkId
from backend.domain.links.links import Link
from backend.domain.reports.report import Report
from backend.storage.links.links import find_link, find_links
from backend.storage.reports.reports import list_reports
from backend.storage.resources.things import Things
from backend.web.current import resources

Fields = dict[str, str]
# The problem of each invalid field. It completes a sentence that begins with the field's label.
Problems = dict[str, str]
_RULES = ANNOTATIONS.told
_NOTES = Things(ANNOTATIONS)
_NAMES = ("text", "day", "time", "link")
# The fields of the form that show a field of the note which may have more than they show.
_SHOWN = {"at": ("day", "time"), "link_id": ("link",)}


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as the list shows it. `link` is the link that it is about, unless it is about none."""

    note: Annotation
    when: str
    link: Link | None


async def _stored(note_id: AnnotationId) -> Fields:
    note = await _NOTES.get(resources().database, org_id(), note_id)
    noted, local = note.noted_time, note.at.astimezone(zone_of_browser())
    return {
        "text": note.text,
        "day": f"{noted.at if noted.is_of_day else local:%Y-%m-%d}",
        "time": "" if noted.is_of_day else f"{local:%H:%M}",
        "link": note.link_id or "",
    }


@dashboard.get("/annotations")
@needs(Permission.ANALYTICS_READ)
async def notes() -> Response:
    """All notes, the latest first, and a form for a new one, of the link that the address names."""
    link = request.args.get("link", "")[:64]
    now = resources().clock().astimezone(zone_of_browser())
    return await _page({"text": "", "day": f"{now:%Y-%m-%d}", "time": "", "link": link}, {})


@dashboard.post("/annotations")
@needs(Permission.ANALYTICS_WRITE)
@once
async def notes_add() -> Response:
    """Add a note."""
    fields, problems = _sent(), Problems()
    values = _parse(fields, problems)
    if not problems:
        try:
            await _NOTES.add(resources().database, org_id(), values, resources().clock())
        except InvalidField as error:
            problems[error.field.removesuffix("_id")] = error.rule
    return await _page(fields, problems) if problems else redirect_with_notice("notes", "note-added")


@dashboard.get("/annotations/<note_id>")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored)
async def notes_edit(note_id: AnnotationId) -> Response:
    """The form with the note."""
    note = await _NOTES.get(resources().database, org_id(), note_id)
    return await _form(note, dict(stored_fields()), {})


@dashboard.post("/annotations/<note_id>")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored)
async def notes_change(note_id: AnnotationId) -> Response:
    """Change the note."""
    note, fields, problems = (
        await _NOTES.get(resources().database, org_id(), note_id),
        _sent(),
        Problems(),
    )
    values = _parse(fields, problems)
    if not problems:
        for name, shown in _SHOWN.items():
            if is_unchanged(*shown):
                del values[name]
        try:
            await _NOTES.change(resources().database, org_id(), note.id, values)
        except InvalidField as error:
            problems[error.field.removesuffix("_id")] = error.rule
    return await _form(note, fields, problems) if problems else redirect_with_notice("notes", "note-changed")


@dashboard.post("/annotations/<note_id>/delete")
@needs(Permission.ANALYTICS_WRITE)
async def notes_delete(note_id: AnnotationId) -> Response:
    """Delete the note."""
    await _NOTES.delete(resources().database, org_id(), note_id)
    return redirect_with_notice("notes", "note-deleted")


def _sent() -> Fields:
    return {name: field(name) for name in _NAMES}


def _parse(fields: Fields, problems: Problems) -> dict[str, Any]:
    """The note's fields; what is wrong is added to `problems`."""
    values: dict[str, Any] = {}
    try:
        values["at"] = _noted_time(fields, problems)
    except InvalidField as error:
        problems["day"] = error.rule
    try:
        if not fields["text"]:
            raise InvalidField("text", "is required")
        values["text"] = _RULES["text"].parse("text", fields["text"])
    except InvalidField as error:
        problems["text"] = error.rule
    try:
        link = fields["link"]
        values["link_id"] = _RULES["link_id"].parse("link", link) if link else None
    except InvalidField:
        problems["link"] = "must be a link of your organization"
    return values


def _noted_time(fields: Fields, problems: Problems) -> NotedTime | None:
    """The day, or with a time that moment in the browser's time zone. Raises InvalidField for the day."""
    try:
        day = date.fromisoformat(fields["day"])
    except ValueError:
        raise InvalidField("day", "must be a day such as 2027-12-31") from None
    noted: NotedTime = _RULES["at"].parse("day", day.isoformat())
    if not fields["time"]:
        return noted
    try:
        clock = time.fromisoformat(fields["time"])
    except ValueError:
        clock = None
    if clock is None or clock.tzinfo:
        problems["time"] = "must be a time such as 09:30"
        return None
    local = datetime.combine(day, clock, zone_of_browser())
    parsed: NotedTime = _RULES["at"].parse("day", local.isoformat(timespec="seconds"))
    return parsed


async def _page(fields: Fields, problems: Problems) -> Response:
    return await page(
        "annotations/notes.html",
        422 if problems else 200,
        later=partial(_notes, paging()),
        problems=problems,
        **await _form_values(fields),
    )


async def _form(note: Annotation, fields: Fields, problems: Problems) -> Response:
    status = 422 if problems else 200
    values = await _form_values(fields, note)
    return await page("annotations/note.html", status, note=note, problems=problems, **values)


async def _form_values(fields: Fields, note: Annotation | None = None) -> Mapping[str, Any]:
    """What the form shows: of which link the note may be is said by the address or by the note."""
    link = await find_link(resources().database, LinkId(fields["link"]), org_id()) if fields["link"] else None
    choices = [("", "All charts")]
    if link:
        choices.append((link.id, f"Charts of {link.link_name}"))
    elif note and note.link_id:
        choices.append((note.link_id, "Charts of a link that was deleted"))
    return {
        "fields": fields,
        "choices": choices,
        "zone": zone_of_browser(),
        "longest": LONGEST_TEXT,
        "shown_in": await _shown_to_readers(),
    }


async def _shown_to_readers() -> list[Report]:
    """The shared reports in whose charts notes stand."""
    shared, now = await list_reports(resources().database, org_id()), resources().clock()
    return [
        report
        for report in shared
        if report.shows_notes and report.kind.has_chart and not report.is_over(now)
    ]


async def _notes(paged: Paging) -> dict[str, Any]:
    latest_first = (await _NOTES.list(resources().database, org_id()))[::-1]
    shown = latest_first[paged.skip : paged.skip + PAGE_SIZE]
    links = await find_links(resources().database, {note.link_id for note in shown if note.link_id}, org_id())
    zone = zone_of_browser()
    return {
        "rows": [
            NoteRow(note, when_of(note.noted_time, zone), links.get(note.link_id) if note.link_id else None)
            for note in shown
        ],
        "paging": paged.with_total(len(latest_first)),
        "path": url_for("dashboard.notes"),
    }
