"""/report-recipients: who gets the figures of which report by mail (docs/mail.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from quart import Response

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Uuid
from backend.domain.reports.recipient import (
    MOST_RECIPIENTS,
    RECIPIENT_FIELDS,
    RECIPIENT_REQUIRED,
    AskedTooOften,
    RecipientUnknown,
    TooManyRecipients,
    recipient_json,
)
from backend.domain.reports.report import ReportUnknown
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
_NEW = BodyFields(RECIPIENT_FIELDS, required=RECIPIENT_REQUIRED)


@contextmanager
def _recipient_errors() -> Iterator[None]:
    """Raise ApiError or InvalidField for what can't be done."""
    try:
        yield
    except RecipientUnknown:
        raise ApiError(error_table.RECIPIENT_NOT_FOUND) from None
    except ReportUnknown:
        raise InvalidField("report_id", "must be a report of your organization") from None
    except TooManyRecipients:
        rule = f"would be one more than the {MOST_RECIPIENTS} that are possible"
        raise InvalidField("address", rule) from None
    except AskedTooOften as error:
        raise InvalidField("address", str(error)) from None


@Operation(method="GET", path=_PATH, summary="List who gets figures by mail", answer="ReportRecipientList")
async def get_report_recipients() -> dict[str, Any]:
    """All recipients: by report, then by address, with what became of the last mail to each."""
    database, org_id = resources().database, caller().org_id
    found = await recipients.list_recipients(database, org_id)
    last = await last_mails(database, org_id, found)
    return {"recipients": [recipient_json(each, last.get(each.id)) for each in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Send a report's figures to somebody who confirms that they want them",
    body=_NEW,
    answer="ReportRecipient",
    errors=(error_table.NO_MAIL_SERVER,),
)
async def post_report_recipient(fields: dict[str, Any]) -> dict[str, Any]:
    """Ask somebody by mail whether they want a report's figures. Who has confirmed is not asked again."""
    if not resources().settings.sends_mail:
        raise ApiError(error_table.NO_MAIL_SERVER)
    database, org_id = resources().database, caller().org_id
    with _recipient_errors():
        recipient = await ask_to_confirm(
            database, resources().settings.base_url, org_id, fields, resources().clock()
        )
    last = await last_mails(database, org_id, [recipient])
    return recipient_json(recipient, last.get(recipient.id))


@Operation(
    method="DELETE",
    path=f"{_PATH}/<recipient_text>",
    summary="Send somebody no more figures",
    path_parameter=_ID,
    status=204,
)
async def remove_report_recipient(recipient_text: str) -> Response:
    """Delete a recipient. Mails that wait are not sent."""
    with _recipient_errors():
        await remove(resources().database, caller().org_id, recipient_text)
    return Response(status=204)
