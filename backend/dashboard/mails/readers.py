"""/mail/confirm, /mail/settings and /mail/unsubscribe: the pages that mails lead to. They know no session.

Who opens them: somebody who was sent a mail, with or without an account. Programs that look through mails
open addresses too, so that opening one changes nothing: a button does. A mail program's own button to
unsubscribe sends a POST to the same address, without cookies (RFC 8058).
"""

from __future__ import annotations

import hmac

from quart import Response, abort, request, url_for

from backend.dashboard.frame.form import read_fields
from backend.dashboard.shared.blueprint import public_page, shared
from backend.dashboard.shared.nothing_sent import nothing_is_sent
from backend.domain.errors import FieldError, InvalidField
from backend.domain.fields.rules import is_token, parse_fields
from backend.domain.fields.time_zones import place_names
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import (
    RECIPIENT_SETTINGS,
    Frequency,
    Recipient,
    RecipientState,
    unlinked,
)
from backend.mail.composing import CONFIRM_PATH, SETTINGS_PATH, UNSUBSCRIBE_PATH
from backend.mail.numbers import day_in, own_language_name
from backend.mail.recipients import unsubscribe
from backend.mail.texts import sections_in, text_in
from backend.storage.reports.recipients import change_own_settings, confirm_recipient, find_recipient_by_token
from backend.storage.reports.reports import find_report
from backend.web.current import resources

_METHODS = ["GET", "POST"]
_LIVE = frozenset({RecipientState.UNCONFIRMED, RecipientState.CONFIRMED})


@shared.route(f"{CONFIRM_PATH}/<token>/<code>", methods=_METHODS)
async def mail_confirm(token: str, code: str) -> Response:
    """Ask whether the person wants the mails; or, with POST, note that they do."""
    recipient = await _recipient(token)
    if request.method == "POST":
        confirmed = await confirm_recipient(resources().database, token, code, resources().clock())
        if not confirmed:
            return await _said("gone", recipient, 410)
        return await _said("confirmed", confirmed, has_settings=True)
    if not _may_confirm(recipient, code):
        return await _said("gone", recipient, 410)
    is_done = recipient.state is RecipientState.CONFIRMED
    return await _said(
        "confirmed" if is_done else "confirm", recipient, has_button=not is_done, has_settings=is_done
    )


@shared.route(f"{UNSUBSCRIBE_PATH}/<token>", methods=_METHODS)
async def mail_unsubscribe(token: str) -> Response:
    """Ask whether the person wants no more mails; or, with POST, see to it. What its body says is ignored.

    Who was removed, or whose report was deleted, is told that nothing is sent any more.
    """
    recipient = await _find(token)
    if recipient is None:
        return await nothing_is_sent()
    if request.method == "POST":
        return await _said("unsubscribed", await unsubscribe(resources().database, token) or recipient)
    is_done = recipient.state is RecipientState.UNSUBSCRIBED
    return await _said(
        "unsubscribed" if is_done else "unsubscribe",
        recipient,
        has_button=not is_done,
        has_settings=recipient.state is RecipientState.CONFIRMED,
    )


def _may_confirm(recipient: Recipient, code: str) -> bool:
    is_late = recipient.expires_at is not None and recipient.expires_at <= resources().clock()
    is_right = recipient.code is not None and hmac.compare_digest(recipient.code.encode(), code.encode())
    return is_right and not is_late and recipient.state in _LIVE


@shared.route(f"{SETTINGS_PATH}/<token>", methods=_METHODS)
async def mail_settings(token: str) -> Response:
    """How often the person gets the mails, in which language and time zone; or, with POST, change it.

    They have confirmed that they want the mails, so they are not asked again.
    """
    recipient = await _find(token)
    if recipient is None:
        return await nothing_is_sent()
    if recipient.state not in _LIVE:
        return await _said("unsubscribed", recipient)
    if request.method != "POST":
        return await _settings(recipient)
    sent = await read_fields()
    errors: list[FieldError] = []
    changes = parse_fields(
        RECIPIENT_SETTINGS, {name: sent.get(name, "") for name in RECIPIENT_SETTINGS}, errors
    )
    if errors:
        return await _settings(recipient, "wrong", 422)
    try:
        changed = await change_own_settings(resources().database, token, changes, resources().clock())
    except InvalidField:
        return await _settings(recipient, "taken", 422)
    return await _settings(changed or recipient, "saved")


async def _settings(recipient: Recipient, said: str = "", status: int = 200) -> Response:
    """The form with the reader's settings; `said` names what became of it."""
    language = recipient.language
    words = await _words(recipient)
    texts = {name: text_in(language, "settings", name, **words) for name in sections_in(language)["settings"]}
    zones = place_names()
    zones = zones if recipient.timezone in zones else [recipient.timezone, *zones]
    return await public_page(
        "mail_settings.html",
        status,
        language=language.value,
        recipient=recipient,
        texts=texts,
        said=said,
        frequencies=[(frequency.value, texts[frequency.value]) for frequency in Frequency],
        languages=[(language.value, own_language_name(language)) for language in Language],
        zones=[(zone, zone) for zone in zones],
        path=request.path,
        unsubscribe=text_in(language, "words", "unsubscribe"),
        unsubscribe_path=url_for("shared.mail_unsubscribe", token=recipient.token),
    )


async def _find(token: str) -> Recipient | None:
    """Who has this token; None for nobody any more. Answers 404 for what is no token."""
    if not is_token(token):
        abort(404)
    return await find_recipient_by_token(resources().database, token)


async def _recipient(token: str) -> Recipient:
    found = await _find(token)
    if found is None:
        abort(404)
    return found


async def _words(recipient: Recipient) -> dict[str, str]:
    """What stands in texts for this reader."""
    language = recipient.language
    report = await find_report(resources().database, recipient.org_id, recipient.report_id)
    return {
        "what": text_in(language, "words", recipient.frequency.value),
        "report": unlinked(report.name) if report else "…",
        "address": recipient.address,
        "date": day_in(language, recipient.next_at.astimezone(recipient.zone)) if recipient.next_at else "",
    }


async def _said(
    name: str,
    recipient: Recipient,
    status: int = 200,
    *,
    has_button: bool = False,
    has_settings: bool = False,
) -> Response:
    """A page with the texts of this name, in the reader's language."""
    language = recipient.language
    words = await _words(recipient)
    return await public_page(
        "said.html",
        status,
        language=language.value,
        title=text_in(language, "pages", f"{name}_title"),
        text=text_in(language, "pages", f"{name}_text", **words),
        button=text_in(language, "pages", f"{name}_button") if has_button else "",
        link=url_for("shared.mail_settings", token=recipient.token) if has_settings else "",
        link_words=text_in(language, "words", "settings"),
        path=request.path,
    )
