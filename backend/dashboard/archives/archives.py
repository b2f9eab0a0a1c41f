"""/archives: everything that the organization has, as a file.

An owner opens it for a backup, to move to another server, or for an auditor.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from quart import Response, jsonify

from backend.dashboard.accounts.users.reader import mail_language
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, user
from backend.dashboard.frame.failing import failing_of
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.archives.archive import (
    MOST_ARCHIVES,
    Archive,
    ArchiveProgress,
    ArchiveState,
    ArchiveUnderWay,
    DiskNearlyFull,
)
from backend.domain.errors import ItemUnknown, TooManyItems
from backend.storage.archives.archives import ask_archive, delete_archive, get_archive, list_archives
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.processes.work import Work
from backend.web.archive_answer import NotReady, archive_answer
from backend.web.current import resources
from backend.web.file_part import NoSuchPart

_TOO_MANY = f"There are {MOST_ARCHIVES} archives, which is the most. Delete one that you have downloaded"
# What a page calls a state, and in which colour.
_LABELS = {
    ArchiveState.WAITING: ("Waiting", ""),
    ArchiveState.IN_PROGRESS: ("In progress", "warn"),
    ArchiveState.READY: ("Ready", "good"),
    ArchiveState.FAILED: ("Failed", "bad"),
}


@dashboard.get("/archives")
@needs(Permission.ORGANIZATION_EXPORT)
async def archives() -> Response:
    """The archives that there are, how far each is, and how one is restored."""
    return await _page()


@dashboard.post("/archives")
@needs(Permission.ORGANIZATION_EXPORT)
@once
async def archives_ask() -> Response:
    """Have an archive made."""
    settings, email = resources().settings, user().email
    try:
        await ask_archive(
            resources().database, org_id(), email,
            kept=timedelta(days=settings.archive_days), mail_to=email if settings.sends_mail else None,
            language=mail_language(), now=resources().clock(),
        )  # fmt: skip
    except TooManyItems:
        return await _page(_TOO_MANY)
    except (ArchiveUnderWay, DiskNearlyFull) as error:
        return await _page(str(error))
    return redirect_with_notice("archives", "archive-asked")


@dashboard.post("/archives/<archive_id>/delete")
@needs(Permission.ORGANIZATION_EXPORT)
async def archives_delete(archive_id: str) -> Response:
    """Delete an archive. One that is being made is given up."""
    await delete_archive(resources().database, org_id(), archive_id)
    return redirect_with_notice("archives", "archive-deleted")


@dashboard.get("/archives/<archive_id>/status")
@needs(Permission.ORGANIZATION_EXPORT)
async def archives_status(archive_id: str) -> Response:
    """How far an archive is, as JSON with a sentence. The page's script asks for it while it is made."""
    archive = await get_archive(resources().database, org_id(), archive_id, resources().clock())
    return jsonify(_status(archive))


@dashboard.get("/archives/<archive_id>/file")
@needs(Permission.ORGANIZATION_EXPORT)
async def archives_file(archive_id: str) -> Response:
    """The file of a ready archive, or a part of it."""
    archive = await get_archive(resources().database, org_id(), archive_id, resources().clock())
    try:
        return await archive_answer(archive)
    except NotReady:
        raise ItemUnknown from None
    except NoSuchPart:
        return Response(status=416, headers={"Content-Range": f"bytes */{archive.size}"})


async def _page(problem: str = "") -> Response:
    return await page(
        "archives/archives.html",
        409 if problem else 200,
        archives=await list_archives(resources().database, org_id(), resources().clock()),
        failing=await failing_of(Work.ARCHIVES),
        problem=problem,
        status_of=_status,
        days=resources().settings.archive_days,
        sends_mail=resources().settings.sends_mail,
    )


def _status(archive: Archive) -> Mapping[str, object]:
    """The archive's state, its label and colour, a sentence on how far it is, and the documents behind it.

    `is_over` says that nothing of it changes any more.
    """
    progress = archive.progress
    label, colour = _LABELS[archive.state]
    return {
        "state": archive.state,
        "label": label,
        "colour": colour,
        "sentence": _sentence(archive),
        "written": progress.written,
        "total": progress.total,
        "is_over": not archive.is_open,
    }


def _sentence(archive: Archive) -> str:
    progress = archive.progress
    match archive.state:
        case ArchiveState.WAITING:
            return "It begins within seconds, once archives of other organizations are made."
        case ArchiveState.IN_PROGRESS if progress.total:
            done, collections = _collections_done(progress), len(archived_collections())
            return (
                f"{progress.written:,} of {progress.total:,} documents, "
                f"{done} of {collections} collections done."
            )
        case ArchiveState.IN_PROGRESS:
            return "It has begun, and counts what there is."
        case ArchiveState.READY:
            return "It is ready. Look again to download it."
    return archive.error


def _collections_done(progress: ArchiveProgress) -> int:
    """How many collections are before the one whose documents are being written."""
    places = [place for place, name in enumerate(archived_collections()) if progress.counts.get(name)]
    return max(places, default=0)
