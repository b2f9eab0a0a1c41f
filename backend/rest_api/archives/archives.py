"""/archives: everything that the organization has, as a file (docs/rest-api.md, "Archives")."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, TypedDict

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.archives.archive import Archive, ArchiveState, ArchiveUnderWay, DiskNearlyFull
from backend.domain.errors import TooManyItems
from backend.domain.fields.rules import Uuid
from backend.domain.fields.shapes import Count, TimeText, UuidText, json_of
from backend.domain.mail.language import Language
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.archives import archives
from backend.storage.driver.deadlines import lift_deadline
from backend.web.archive_answer import MEDIA_TYPE, NotReady, archive_answer
from backend.web.current import resources
from backend.web.file_part import NoSuchPart

_PATH = "/archives"
_ONE = f"{_PATH}/<archive_text>"
_NEEDS = (Permission.ORGANIZATION_EXPORT,)
_ID = PathParameter(
    "archiveId", Uuid().schema(), "The archive's id.", errors=(error_table.ARCHIVE_NOT_FOUND,)
)
_ASKED_BY = "A REST key"
_PART_HEADER: dict[str, Any] = {
    "name": "Range",
    "in": "header",
    "description": "Which bytes of the file are wanted, as `bytes=1048576-`, to go on with a download.",
    "schema": {"type": "string"},
}


@Operation(
    method="POST",
    path=_PATH,
    summary="Have an archive of the organization made",
    needs=_NEEDS,
    status=202,
    answer="Archive",
    errors=(error_table.ARCHIVE_UNDER_WAY, error_table.TOO_MANY_ARCHIVES, error_table.DISK_NEARLY_FULL),
)
async def post_archive() -> tuple[ArchiveJson, int]:
    """Ask for an archive of everything that the organization has. It is made in the background."""
    try:
        archive = await archives.ask_archive(
            resources().database, caller().org_id, _ASKED_BY,
            kept=timedelta(days=resources().settings.archive_days), mail_to=None, language=Language.EN,
            now=resources().clock(),
        )  # fmt: skip
    except ArchiveUnderWay:
        raise ApiError(error_table.ARCHIVE_UNDER_WAY) from None
    except TooManyItems:
        raise ApiError(error_table.TOO_MANY_ARCHIVES) from None
    except DiskNearlyFull:
        raise ApiError(error_table.DISK_NEARLY_FULL) from None
    return _json(archive), 202


@Operation(method="GET", path=_PATH, summary="List the archives", needs=_NEEDS, answer="ArchiveList")
async def get_archives() -> dict[str, Any]:
    """All archives of the organization, the newest first."""
    found = await archives.list_archives(resources().database, caller().org_id, resources().clock())
    return {"archives": [_json(archive) for archive in found]}


@Operation(
    method="GET",
    path=_ONE,
    summary="See how far an archive is",
    needs=_NEEDS,
    path_parameter=_ID,
    answer="Archive",
)
async def get_archive(archive_text: str) -> ArchiveJson:
    """An archive: how far it is, and what its file is like once it is ready."""
    return _json(await _own(archive_text))


@Operation(
    method="GET",
    path=f"{_ONE}/file",
    summary="Download an archive",
    needs=_NEEDS,
    path_parameter=_ID,
    header_parameters=(_PART_HEADER,),
    other_status=206,
    files={MEDIA_TYPE: "What `waylink restore` reads: a header, a line for each document, and a checksum."},
    errors=(error_table.ARCHIVE_NOT_READY, error_table.RANGE_NOT_SATISFIABLE),
)
async def get_archive_file(archive_text: str) -> Response:
    """The file of an archive that is ready, or the part of it that `Range` asks for."""
    lift_deadline()  # it may take an hour; every query of the database has a time limit of its own
    try:
        return await archive_answer(await _own(archive_text))
    except NotReady:
        raise ApiError(error_table.ARCHIVE_NOT_READY) from None
    except NoSuchPart:
        raise ApiError(error_table.RANGE_NOT_SATISFIABLE) from None


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete an archive",
    needs=_NEEDS,
    path_parameter=_ID,
    status=204,
)
async def delete_archive(archive_text: str) -> None:
    """Delete an archive and its file. One that is being made is given up."""
    await archives.delete_archive(resources().database, caller().org_id, archive_text)


async def _own(archive_id: str) -> Archive:
    now = resources().clock()
    return await archives.get_archive(resources().database, caller().org_id, archive_id, now)


class _Progress(TypedDict):
    total: Count
    written: Count


class ArchiveJson(TypedDict):
    """A file with everything of the organization, or one that is being made."""

    id: UuidText
    state: ArchiveState
    asked_by: Annotated[str, "The address of a member, or that a key asked for it."]
    asked_at: TimeText
    expires_at: Annotated[TimeText, "When it is deleted."]
    documents: _Progress
    size: Annotated[Count | None, "Bytes of the file; null unless it is ready."]
    sha256: Annotated[str | None, "Of the file; null unless it is ready."]
    error: Annotated[str | None, "Why it could not be made; null unless it failed."]


def _json(archive: Archive) -> ArchiveJson:
    is_ready = archive.state is ArchiveState.READY
    return json_of(
        ArchiveJson,
        archive,
        documents=archive.progress,
        size=archive.size if is_ready else None,
        sha256=archive.sha256 if is_ready else None,
        error=archive.error or None,
    )
