"""The `reports` collection: saved views of organizations, each with the token of its public URL.

The token is stored as it is, so that the organization can copy the URL again (decisions, "shared-reports").
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel

from backend.domain.ids import OrgId, ReportId
from backend.domain.reports.input import REPORT_FIELDS, REPORT_NAME, check_report
from backend.domain.reports.report import MOST_REPORTS, Report
from backend.domain.reports.saved_query import SavedQuery
from backend.domain.reports.views import ReportView
from backend.storage.accounts.organizations import find_event_properties
from backend.storage.driver.mongo import Database
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.reports.recipients import remove_recipients_of
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import password_hash, url_token
from backend.storage.schema.document_shape import DocumentShape, stored_values
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "reports"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("created_at", 1)]), IndexModel("token", unique=True)],
    owned_by=ByField(),
    personal=NotPersonal("it says what is shown, and who opens it is not asked"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(
        kind="report",
        name="name",
        hidden=frozenset({"token", "password_hash"}),
        ignored=frozenset({"opened_at"}),
    ),
)
SHAPE = DocumentShape(
    record=Report,
    rules={
        "name": REPORT_NAME.parse,
        # What it asks for is checked when it is read: the time may have made it one that can't be answered.
        "query": SavedQuery().parse,
        "token": url_token,
        "password_hash": password_hash,
        "embed_origins": REPORT_FIELDS["embed_origins"].parse,
    },
    optional={"kind"},
)
_REPORTS = OwnDocuments(NAME, MOST_REPORTS, "name")
# Nobody can guess a token of so many bytes.
_TOKEN_BYTES = 32
# A report that is opened all the time is written once in so long.
_OPENINGS_NOTED_EVERY = timedelta(minutes=1)


async def create_report(
    database: Database, org_id: OrgId, values: Mapping[str, Any], now: datetime
) -> Report:
    """Store a new report, with a new token.

    `values` are its fields, parsed by REPORT_FIELDS, with `password_hash` in place of `password`. Raises
    InvalidField.
    """
    await _check(database, org_id, check_report(values, now))
    await _REPORTS.check_room(database, org_id)
    report = Report(
        id=ReportId(str(uuid.uuid4())),
        org_id=org_id,
        created_at=now.replace(microsecond=0),
        token=secrets.token_urlsafe(_TOKEN_BYTES),
        **values,
    )
    await database[NAME].insert_one(SHAPE.to_document(report))
    return report


async def list_reports(database: Database, org_id: OrgId) -> list[Report]:
    """All reports of the organization, the oldest first."""
    cursor = database[NAME].find({"org_id": org_id}).sort([("created_at", 1), ("_id", 1)])
    return [SHAPE.from_document(document) async for document in cursor]


async def get_report(database: Database, org_id: OrgId, given_id: str) -> Report:
    """The organization's report with this id. Raises ItemUnknown."""
    return SHAPE.from_document(await _REPORTS.get(database, org_id, given_id))


async def find_report(database: Database, org_id: OrgId, report_id: ReportId) -> Report | None:
    """The organization's report with this id; None if there is none any more."""
    document = await database[NAME].find_one({"_id": report_id, "org_id": org_id})
    return SHAPE.from_document(document) if document else None


async def find_report_by_token(database: Database, token: str) -> Report | None:
    """The report whose URL has this token, of whichever organization; None if there is none."""
    document = await database[NAME].find_one({"token": token})
    return SHAPE.from_document(document) if document else None


async def change_report(
    database: Database, org_id: OrgId, given_id: str, changes: Mapping[str, Any], now: datetime
) -> Report:
    """Change these fields, which are given as those of `create_report`. The URL stays.

    Raises InvalidField and ItemUnknown.
    """
    before = await get_report(database, org_id, given_id)
    await _check(database, org_id, check_report(changes, now, before))
    return SHAPE.from_document(await _REPORTS.change(database, org_id, given_id, stored_values(changes)))


async def delete_report(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the report: its URL leads nowhere from now on, and nobody is sent it. Raises ItemUnknown."""
    await _REPORTS.delete(database, org_id, given_id)
    await remove_recipients_of(database, org_id, ReportId(given_id))


async def note_opening(database: Database, report: Report, now: datetime) -> None:
    """Keep that the report was opened, unless that was just done."""
    if report.opened_at is None or now - report.opened_at >= _OPENINGS_NOTED_EVERY:
        await unrecorded(database)[NAME].update_one(
            {"_id": report.id, "org_id": report.org_id},
            {"$max": {"opened_at": now.replace(microsecond=0)}},
        )


async def _check(database: Database, org_id: OrgId, view: ReportView | None) -> None:
    """Raise InvalidField if the view names a property of events that the organization has not marked."""
    if view and view.names_properties:
        view.check_properties(await find_event_properties(database, org_id))
