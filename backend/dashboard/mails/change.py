"""/mails/ID: the form that changes how often a reader gets mails, in which language and time zone.

Who opens it: whoever hears from a reader that once a month is enough, or that the mails come at night.
Readers can do the same themselves, by a link in each mail.
"""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.dashboard.mails.form import Fields, Problems, fields_of, read_fields, sent_fields
from backend.dashboard.mails.shown import FREQUENCIES
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.time_zones import place_names
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import RECIPIENT_SETTINGS, Recipient
from backend.mail.numbers import language_name
from backend.storage.reports.recipients import change_recipient, get_recipient
from backend.storage.reports.reports import get_report
from backend.web.current import resources


async def _stored(recipient_id: str) -> Fields:
    return fields_of(await get_recipient(resources().database, org_id(), recipient_id))


@dashboard.get("/mails/<recipient_id>")
@needs(Permission.REPORTS_WRITE)
@of_stored(_stored)
async def mails_one(recipient_id: str) -> Response:
    """The form with the reader's settings."""
    reader = await get_recipient(resources().database, org_id(), recipient_id)
    return await _form_page(reader, dict(stored_fields()), {})


@dashboard.post("/mails/<recipient_id>")
@needs(Permission.REPORTS_WRITE)
@of_stored(_stored)
async def mails_change(recipient_id: str) -> Response:
    """Change the reader's settings. They are not asked again."""
    reader = await get_recipient(resources().database, org_id(), recipient_id)
    fields, problems = sent_fields(), Problems()
    changes = read_fields(fields, problems, tuple(RECIPIENT_SETTINGS))
    if not problems:
        try:
            await change_recipient(resources().database, org_id(), reader.id, changes, resources().clock())
            return redirect_with_notice("mails", "mail-changed")
        except InvalidField as error:
            problems[error.field] = error.rule
    return await _form_page(reader, fields, problems)


async def _form_page(reader: Recipient, fields: Fields, problems: Problems) -> Response:
    report = await get_report(resources().database, org_id(), reader.report_id)
    return await page(
        "mails/change.html",
        422 if problems else 200,
        reader=reader,
        report=report,
        fields=fields,
        problems=problems,
        frequencies=FREQUENCIES.items(),
        languages=[(language.value, language_name(language)) for language in Language],
        zones=place_names(),
    )
