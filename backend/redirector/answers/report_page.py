"""The form by which visitors report a link, in their language."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from backend.domain.links.reports import ReportReason
from backend.redirector.answers.answer import Answer
from backend.redirector.answers.pages import look_of, page_with_form
from backend.redirector.request.visit import Visit


class Problem(StrEnum):
    """The field of the form that is not right."""

    LINK = "link"
    REASON = "reason"
    TEXT = "text"


_TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "title": "Report a link",
        "lead": "Tell whoever runs this service about a link that does harm. You are not asked who you are.",
        "link": "Address of the link",
        "reason": "What is wrong with it?",
        "fraud": "Fraud: it pretends to be somebody else",
        "malware": "Harmful software",
        "spam": "Unwanted advertising",
        "illegal": "Something illegal",
        "other": "Something else",
        "text": "Anything to add (optional)",
        "button": "Report",
        "problem_link": "There is no such link here. Please check the address.",
        "problem_reason": "Please choose what is wrong.",
        "problem_text": "This text is too long, or has characters that can't be shown.",
    },
    "de": {
        "title": "Einen Link melden",
        "lead": "Sagen Sie dem Betreiber dieses Dienstes, welcher Link schadet. Sie werden nicht gefragt, "
        "wer Sie sind.",
        "link": "Adresse des Links",
        "reason": "Was ist damit?",
        "fraud": "Betrug: er gibt sich als jemand anderes aus",
        "malware": "Schädliche Software",
        "spam": "Unerwünschte Werbung",
        "illegal": "Etwas Verbotenes",
        "other": "Etwas anderes",
        "text": "Was Sie dazu sagen möchten (freiwillig)",
        "button": "Melden",
        "problem_link": "Diesen Link gibt es hier nicht. Bitte prüfen Sie die Adresse.",
        "problem_reason": "Bitte wählen Sie, was damit ist.",
        "problem_text": "Dieser Text ist zu lang oder hat Zeichen, die nicht gezeigt werden können.",
    },
    "fr": {
        "title": "Signaler un lien",
        "lead": "Indiquez à l’exploitant de ce service un lien nuisible. Votre identité n’est pas demandée.",
        "link": "Adresse du lien",
        "reason": "Quel est le problème ?",
        "fraud": "Fraude : il se fait passer pour quelqu’un d’autre",
        "malware": "Logiciel malveillant",
        "spam": "Publicité indésirable",
        "illegal": "Contenu illégal",
        "other": "Autre chose",
        "text": "Précisions (facultatif)",
        "button": "Signaler",
        "problem_link": "Ce lien n’existe pas ici. Vérifiez l’adresse.",
        "problem_reason": "Choisissez le problème.",
        "problem_text": "Ce texte est trop long ou contient des caractères qui ne peuvent pas être affichés.",
    },
    "es": {
        "title": "Denunciar un enlace",
        "lead": "Indique a quien gestiona este servicio un enlace dañino. No se le pregunta quién es.",
        "link": "Dirección del enlace",
        "reason": "¿Qué ocurre con él?",
        "fraud": "Fraude: se hace pasar por otra persona",
        "malware": "Software dañino",
        "spam": "Publicidad no deseada",
        "illegal": "Contenido ilegal",
        "other": "Otra cosa",
        "text": "Algo que añadir (opcional)",
        "button": "Denunciar",
        "problem_link": "Ese enlace no existe aquí. Compruebe la dirección.",
        "problem_reason": "Elija qué ocurre.",
        "problem_text": "Este texto es demasiado largo o tiene caracteres que no se pueden mostrar.",
    },
}


def form(visit: Visit, fields: Mapping[str, str], problem: Problem | None = None) -> Answer:
    """The form with these texts in its fields; what is wrong with one of them stands beside it."""
    texts = _TEXTS[look_of(visit).language]
    return page_with_form(
        visit,
        "report.html",
        422 if problem else 200,
        title=texts["title"],
        texts=texts,
        reasons=[reason.value for reason in ReportReason],
        fields=fields,
        problem=problem,
    )
