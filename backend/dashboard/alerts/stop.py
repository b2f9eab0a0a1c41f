"""/mail/alerts/stop: where mails of alerts lead to who wants no more of them. It knows no session.

Opening the address changes nothing: programs that look through mails do so. A button does, and the mail
program's own, which sends a POST without cookies (RFC 8058).
"""

from __future__ import annotations

from quart import Response, abort, request

from backend.dashboard.shared.blueprint import public_page, shared
from backend.dashboard.shared.nothing_sent import nothing_is_sent
from backend.domain.alerts.rule import ALERT_KEY
from backend.domain.alerts.words import Reader
from backend.domain.fields.rules import is_token, is_uuid
from backend.mail.alert_mails import STOP_PATH
from backend.storage.alerts.rules import find_rule_of_mail, stop_mails
from backend.storage.mail.mails import drop_waiting
from backend.web.current import resources


@shared.route(f"{STOP_PATH}/<rule_id>/<token>", methods=["GET", "POST"])
async def alert_mails_stop(rule_id: str, token: str) -> Response:
    """Ask whether the person wants no more mails of the rule; or, with POST, see to it."""
    database = resources().database
    is_possible = is_uuid(rule_id) and is_token(token)
    found = await find_rule_of_mail(database, rule_id, token) if is_possible else None
    if found is None:
        if not is_possible:
            abort(404)
        return await nothing_is_sent()
    rule, address = found
    gets_mails = address in rule.mail_to
    if request.method == "POST" and gets_mails:
        await stop_mails(database, rule, address)
        await drop_waiting(database, rule.org_id, address, f"{ALERT_KEY}{rule.id}/")
        gets_mails = False
    reader = Reader(rule.language)
    name = "stop" if gets_mails else "stopped"
    return await public_page(
        "said.html",
        language=rule.language.value,
        title=reader.say(f"{name}_title"),
        text=reader.say(f"{name}_text", rule=rule.name, address=address),
        button=reader.say("stop") if gets_mails else "",
        path=request.path,
    )
