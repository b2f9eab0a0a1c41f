"""/mail/confirm and /mail/unsubscribe: the pages that mails lead to. They know no session.

Who opens them: somebody who was sent a mail, with or without an account. Programs that look through mails
open addresses too, so that opening one changes nothing: a button does. A mail program's own button to
unsubscribe sends a POST to the same address, without cookies (RFC 8058).
"""

from __future__ import annotations

import hmac

from quart import Response, abort, request

from backend.dashboard.shared.blueprint import public_page, shared
from backend.domain.fields.rules import is_token
from backend.domain.reports.recipient import Recipient, RecipientState, unlinked
from backend.mail.composing import CONFIRM_PATH, UNSUBSCRIBE_PATH
from backend.mail.numbers import day_in
from backend.mail.recipients import unsubscribe
from backend.mail.texts import text_in
from backend.storage.reports.recipients import confirm_recipient, find_recipient_by_token
from backend.storage.reports.reports import find_report
from backend.web.current import resources

_METHODS = ["GET", "POST"]


@shared.route(f"{CONFIRM_PATH}/<token>/<code>", methods=_METHODS)
async def mail_confirm(token: str, code: str) -> Response:
    """Ask whether the person wants the mails; or, with POST, note that they do."""
    recipient = await _recipient(token)
    if request.method == "POST":
        confirmed = await confirm_recipient(resources().database, token, code, resources().clock())
        return await _said("confirmed", confirmed) if confirmed else await _said("gone", recipient, 410)
    if not _may_confirm(recipient, code):
        return await _said("gone", recipient, 410)
    is_done = recipient.state is RecipientState.CONFIRMED
    return await _said("confirmed" if is_done else "confirm", recipient, has_button=not is_done)


@shared.route(f"{UNSUBSCRIBE_PATH}/<token>", methods=_METHODS)
async def mail_unsubscribe(token: str) -> Response:
    """Ask whether the person wants no more mails; or, with POST, see to it. What its body says is ignored."""
    recipient = await _recipient(token)
    if request.method == "POST":
        return await _said("unsubscribed", await unsubscribe(resources().database, token) or recipient)
    is_done = recipient.state is RecipientState.UNSUBSCRIBED
    return await _said("unsubscribed" if is_done else "unsubscribe", recipient, has_button=not is_done)


def _may_confirm(recipient: Recipient, code: str) -> bool:
    is_late = recipient.expires_at is not None and recipient.expires_at <= resources().clock()
    is_right = recipient.code is not None and hmac.compare_digest(recipient.code.encode(), code.encode())
    live = {RecipientState.UNCONFIRMED, RecipientState.CONFIRMED}
    return is_right and not is_late and recipient.state in live


async def _recipient(token: str) -> Recipient:
    found = await find_recipient_by_token(resources().database, token) if is_token(token) else None
    if found is None:
        abort(404)
    return found


async def _said(name: str, recipient: Recipient, status: int = 200, *, has_button: bool = False) -> Response:
    """A page with the texts of this name, in the reader's language."""
    language = recipient.language
    report = await find_report(resources().database, recipient.org_id, recipient.report_id)
    words = {
        "what": text_in(language, "words", recipient.frequency.value),
        "report": unlinked(report.name) if report else "…",
        "address": recipient.address,
        "date": day_in(language, recipient.next_at.astimezone(recipient.zone)) if recipient.next_at else "",
    }
    return await public_page(
        "said.html",
        status,
        language=language.value,
        title=text_in(language, "pages", f"{name}_title"),
        text=text_in(language, "pages", f"{name}_text", **words),
        button=text_in(language, "pages", f"{name}_button") if has_button else "",
        path=request.path,
    )
