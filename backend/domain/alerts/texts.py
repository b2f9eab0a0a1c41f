"""The texts of alerts in each language: words in {braces} are filled in (words.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backend.domain.mail.language import Language

_EN = {
    "spike": "Spike in clicks",
    "drop": "Drop to nothing",
    "broken_destination": "Broken destination",
    "link_expiry": "Link has expired, or is about to",
    "limits": "Limit reached",
    "refused_sites": "Refused site",
    "rejected_calls": "Rejected calls",
    "one_click": "{number} click",
    "clicks": "{number} clicks",
    "no_click": "No click",
    "one_hour": "the hour",
    "hours": "the {number} hours",
    "one_call": "{number} call",
    "calls": "{number} calls",
    "no_site": "a site that did not say its name",
    "why_spike": "{clicks} in the hour from {begin}, where up to about {usual} are usual at this time of the "
    "week.",
    "why_drop": "{clicks} in {hours} until {until}, where each of the weeks before had at least {usual}.",
    "why_broken": "{url} {problem}, since {since}.",
    "why_expired": "The link expired at {at}.",
    "why_expires": "The link will expire at {at}.",
    "why_rate_limit": "The rate limit “{limit}” refused {requests} requests in a day in UTC, the last at "
    "{last}.",
    "why_all_clicks": "All {most} clicks of the link were taken, so it leads nowhere any more.",
    "why_nearly_all_clicks": "{clicks} of the link's {most} clicks were taken.",
    "why_refused": "{requests} requests of {site} were refused within a day, the last at {last}: {reason}.",
    "why_rejected": "{calls} of “{call}” rejected: {field} {rule}. The last came at {last}.",
    "over": "Over since {at}: {why}",
    "over_subject": "Over: {subject}",
    "and_more": "{subject} (and {number} more)",
    "told_by": "The rule “{rule}” of {organization} told you.",
    "see_all": "All alerts, and the rule",
    "stop": "No more mails of this rule",
    "stop_title": "Stop these mails?",
    "stop_text": "The alerts of the rule “{rule}” will not be sent to {address} any more.",
    "stopped_title": "You get no more of these mails",
    "stopped_text": "The alerts of the rule “{rule}” are not sent to {address} any more. Who manages the "
    "rule can add you again.",
}
_DE = {
    "spike": "Sprung bei den Klicks",
    "drop": "Keine Klicks mehr",
    "broken_destination": "Ziel nicht erreichbar",
    "link_expiry": "Link abgelaufen, oder bald",
    "limits": "Grenze erreicht",
    "refused_sites": "Abgewiesene Website",
    "rejected_calls": "Abgelehnte Aufrufe",
    "one_click": "{number} Klick",
    "clicks": "{number} Klicks",
    "no_click": "Kein Klick",
    "one_hour": "der Stunde",
    "hours": "den {number} Stunden",
    "one_call": "{number} Aufruf",
    "calls": "{number} Aufrufe",
    "no_site": "einer Website, die sich nicht nannte,",
    "why_spike": "{clicks} in der Stunde ab {begin}; üblich sind um diese Zeit der Woche bis etwa {usual}.",
    "why_drop": "{clicks} in {hours} bis {until}; in jeder der Wochen davor waren es mindestens {usual}.",
    "why_broken": "{url} {problem}, seit {since}.",
    "why_expired": "Der Link ist abgelaufen: {at}.",
    "why_expires": "Der Link läuft ab: {at}.",
    "why_rate_limit": "Die Grenze „{limit}“ hat an einem Tag (UTC) {requests} Anfragen abgewiesen, die "
    "letzte: {last}.",
    "why_all_clicks": "Alle {most} Klicks des Links sind verbraucht: Er führt nirgends mehr hin.",
    "why_nearly_all_clicks": "{clicks} der {most} Klicks des Links sind verbraucht.",
    "why_refused": "{requests} Anfragen von {site} wurden an einem Tag abgewiesen, die letzte: {last}: "
    "{reason}.",
    "why_rejected": "{calls} von „{call}“ abgelehnt: {field} {rule}. Der letzte kam: {last}.",
    "over": "Vorbei seit {at}: {why}",
    "over_subject": "Vorbei: {subject}",
    "and_more": "{subject} (und {number} weitere)",
    "told_by": "Das meldet die Regel „{rule}“ von {organization}.",
    "see_all": "Alle Meldungen und die Regel",
    "stop": "Keine Mails dieser Regel mehr",
    "stop_title": "Diese Mails abbestellen?",
    "stop_text": "Meldungen der Regel „{rule}“ gehen dann nicht mehr an {address}.",
    "stopped_title": "Sie haben abbestellt",
    "stopped_text": "Meldungen der Regel „{rule}“ gehen nicht mehr an {address}. Wer die Regel verwaltet, "
    "kann Sie wieder eintragen.",
}
TEXTS: Mapping[Language, Mapping[str, str]] = {Language.EN: _EN, Language.DE: _DE}
# What the service itself has written into figures, in English: problems of destinations (web_client), and why
# a site was refused (sdk_api/origins.py).
_FOUND_DE = {
    "answers with status {number}": "antwortet mit Status {number}",
    "redirects more than {number} times": "leitet mehr als {number}-mal weiter",
    "redirects to what is no web address": "leitet zu etwas weiter, das keine Webadresse ist",
    "answers what can't be unpacked": "antwortet etwas, das sich nicht entpacken lässt",
    "answers no HTTP": "antwortet nicht mit HTTP",
    "has a certificate that browsers refuse": "hat ein Zertifikat, das Browser ablehnen",
    "did not answer in time": "hat nicht rechtzeitig geantwortet",
    "does not answer": "antwortet nicht",
    "is not in the public internet": "ist nicht im öffentlichen Internet",
    "no Origin header": "kein Origin-Header",
    "a page without an origin: in a sandboxed iframe, or a file": (
        "eine Seite ohne Herkunft: in einem abgeschotteten iframe, oder eine Datei"
    ),
    "not an Allowed Web Origin": "keine der erlaubten Web-Origins",
}
_FOUND: Mapping[Language, Mapping[str, str]] = {Language.DE: _FOUND_DE}
_NUMBER = re.compile(r"[0-9]+")


def found_in(language: Language, found: str) -> str:
    """A problem or a reason of an alert's figures; as it is where it has no text in the language."""
    text = _FOUND.get(language, {}).get(_NUMBER.sub("{number}", found))
    if text is None:
        return found
    number = _NUMBER.search(found)
    return text.format(number=number[0] if number else "")
