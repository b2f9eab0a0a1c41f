"""/report-recipients: who gets the figures of which report by mail (docs/mail.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.fields.rules import Uuid
from backend.domain.reports.recipient import (
    RECIPIENT_FIELDS,
    RECIPIENT_REQUIRED,
    RECIPIENT_SETTINGS,
    RecipientJson,
    recipient_json,
)
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.mail.recipients import ask_to_confirm, last_mails, remove
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.reports import recipients
from backend.web.current import resources

_PATH = "/report-recipients"
_ID = PathParameter(
    "recipientId", Uuid().schema(), "The recipient's id.", errors=(error_table.RECIPIENT_NOT_FOUND,)
)
_SETTINGS = BodyFields(RECIPIENT_SETTINGS)
_NEW = BodyFields(RECIPIENT_FIELDS, required=RECIPIENT_REQUIRED)


@Operation(
    method="GET",
    path=_PATH,
    summary="List who gets figures by mail",
    needs=(Permission.REPORTS_WRITE,),
    answer="ReportRecipientList",
)
async def get_report_recipients() -> dict[str, Any]:
    """All recipients: by report, then by address, with what became of the last mail to each."""
    database, org_id = resources().database, caller().org_id
    found = await recipients.list_recipients(database, org_id)
    last = await last_mails(database, org_id, found)
    return {"recipients": [recipient_json(recipient, last.get(recipient.id)) for recipient in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Send a report's figures to somebody who confirms that they want them",
    needs=(Permission.REPORTS_WRITE,),
    body=_NEW,
    answer="ReportRecipient",
    errors=(error_table.NO_MAIL_SERVER,),
)
async def post_report_recipient(fields: dict[str, Any]) -> RecipientJson:
    """Ask somebody by mail whether they want a report's figures. Who has confirmed is not asked again."""
    if not resources().settings.sends_mail:
        raise ApiError(error_table.NO_MAIL_SERVER)
    database, org_id = resources().database, caller().org_id
    base_url, now = resources().settings.base_url, resources().clock()
    try:
        recipient = await ask_to_confirm(database, base_url, org_id, fields, now)
    except ItemUnknown:
        raise InvalidField("report_id", "must be a report of your organization") from None
    last = await last_mails(database, org_id, [recipient])
    return recipient_json(recipient, last.get(recipient.id))


@Operation(
    method="PATCH",
    path=f"{_PATH}/<recipient_text>",
    summary="Change how often somebody gets figures, in which language and time zone",
    path_parameter=_ID,
    body=_SETTINGS,
    needs=(Permission.REPORTS_WRITE,),
    answer="ReportRecipient",
)
async def patch_report_recipient(recipient_text: str, fields: dict[str, Any]) -> RecipientJson:
    """Change the fields in the body. Nobody is asked again; only readers themselves ask for more mails."""
    database, org_id = resources().database, caller().org_id
    changed = await recipients.change_recipient(database, org_id, recipient_text, fields, resources().clock())
    last = await last_mails(database, org_id, [changed])
    return recipient_json(changed, last.get(changed.id))


@Operation(
    method="DELETE",
    path=f"{_PATH}/<recipient_text>",
    summary="Send somebody no more figures",
    needs=(Permission.REPORTS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_report_recipient(recipient_text: str) -> None:
    """Delete a recipient. Mails that wait are not sent."""
    await remove(resources().database, caller().org_id, recipient_text)
