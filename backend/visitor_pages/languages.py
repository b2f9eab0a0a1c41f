"""The languages of the pages that visitors see, and their texts."""

from __future__ import annotations

from backend.concurrency.bounded_cache import remember
from backend.domain.web.accept_language import preferred_languages

DEFAULT = "en"
_LONGEST_HEADER = 512  # bytes of a header that is remembered
# For each language: title and sentence of each message, and the words on the app page.
_TEXTS: dict[str, dict[str, tuple[str, str]]] = {
    "en": {
        "not_found": (
            "This link does not work",
            "It may have been turned off, or mistyped. Please check the address, or ask whoever gave it "
            "to you.",
        ),
        "held": (
            "This link was stopped",
            "Whoever runs this service stopped it because it may be harmful. You are not led on.",
        ),
        "report": ("Report this link", ""),
        "thanks": ("Thank you", "Whoever runs this service has your report."),
        "too_many": ("Too many reports came from here", "Please try again in an hour."),
        "unavailable": (
            "This link can't be opened right now",
            "Please try again in a few seconds.",
        ),
        "opens_app": ("This link opens in the app", "If nothing happens, the app may not be installed yet."),
        "app": ("Open in the app", "Continue in the browser"),
        "in_app": (
            "This link opens in the app",
            "If nothing happens, open the menu of this app and choose its browser there.",
        ),
        "leave": ("Open in the browser", "Continue here"),
        "by_mail": (
            "This link opens in the app",
            "If nothing happens, or Safari can't open the page, the app is not installed yet.",
        ),
        "get_app": ("Get the app", ""),
        "leads_to": (
            "Where this link leads",
            "If you have the app that belongs to it, the link opens the app.",
        ),
        "leads_on": ("Continue", ""),
        "not_told": (
            "Where this link leads is not shown here",
            "It needs a password, or opens for a limited number of visitors only.",
        ),
        "store": (
            "This link opens in the app",
            "The button leads to the App Store. It also copies a one-time text, by which the app finds this "
            "link when you open it for the first time.",
        ),
        "to_store": ("Copy and get the app", "Get the app without copying"),
        "to_continue": (
            "Continue to the link",
            "This link can only be opened a few times. The button shows that somebody is here, and "
            "not a program that checks mail.",
        ),
        "password": (
            "This link needs a password",
            "Whoever gave you the link can tell you its password.",
        ),
        "password_form": ("Password", "Open the link"),
        "password_refused": (
            "That password is not right.",
            "There were too many wrong tries. Please try again later.",
        ),
    },
    "de": {
        "not_found": (
            "Dieser Link funktioniert nicht",
            "Vielleicht wurde er abgeschaltet oder falsch eingegeben. Bitte prüfen Sie die Adresse, oder "
            "fragen Sie dort nach, woher Sie ihn haben.",
        ),
        "held": (
            "Dieser Link wurde gestoppt",
            "Der Betreiber dieses Dienstes hat ihn gestoppt, weil er schaden könnte. Sie werden nicht "
            "weitergeleitet.",
        ),
        "report": ("Diesen Link melden", ""),
        "thanks": ("Danke", "Der Betreiber dieses Dienstes hat Ihre Meldung."),
        "too_many": (
            "Von hier kamen zu viele Meldungen",
            "Bitte versuchen Sie es in einer Stunde noch einmal.",
        ),
        "unavailable": (
            "Dieser Link lässt sich gerade nicht öffnen",
            "Bitte versuchen Sie es in ein paar Sekunden noch einmal.",
        ),
        "opens_app": (
            "Dieser Link öffnet sich in der App",
            "Wenn nichts geschieht, ist die App vielleicht noch nicht installiert.",
        ),
        "app": ("In der App öffnen", "Im Browser weiter"),
        "in_app": (
            "Dieser Link öffnet sich in der App",
            "Wenn nichts geschieht, öffnen Sie das Menü dieser App und wählen Sie dort den Browser.",
        ),
        "leave": ("Im Browser öffnen", "Hier weiter"),
        "by_mail": (
            "Dieser Link öffnet sich in der App",
            "Wenn nichts geschieht oder Safari die Seite nicht öffnen kann, ist die App noch nicht "
            "installiert.",
        ),
        "get_app": ("App laden", ""),
        "leads_to": (
            "Wohin dieser Link führt",
            "Wenn Sie die App dazu haben, öffnet der Link die App.",
        ),
        "leads_on": ("Weiter", ""),
        "not_told": (
            "Wohin dieser Link führt, wird hier nicht gezeigt",
            "Er braucht ein Passwort oder öffnet sich nur für begrenzt viele Besucher.",
        ),
        "store": (
            "Dieser Link öffnet sich in der App",
            "Die Schaltfläche führt zum App Store. Sie kopiert auch einen Text für den einmaligen Gebrauch, "
            "mit dem die App diesen Link findet, wenn Sie sie zum ersten Mal öffnen.",
        ),
        "to_store": ("Kopieren und App laden", "App laden, ohne zu kopieren"),
        "to_continue": (
            "Weiter zum Link",
            "Dieser Link lässt sich nur wenige Male öffnen. Mit der Schaltfläche zeigen Sie, dass "
            "hier jemand liest, und nicht ein Programm, das E-Mails prüft.",
        ),
        "password": (
            "Dieser Link ist durch ein Passwort geschützt",
            "Wer Ihnen den Link gab, kann Ihnen das Passwort nennen.",
        ),
        "password_form": ("Passwort", "Link öffnen"),
        "password_refused": (
            "Dieses Passwort stimmt nicht.",
            "Es gab zu viele falsche Versuche. Bitte versuchen Sie es später noch einmal.",
        ),
    },
    "fr": {
        "not_found": (
            "Ce lien ne fonctionne pas",
            "Il a peut-être été désactivé ou mal saisi. Vérifiez l’adresse, ou demandez à la personne qui "
            "vous l’a donné.",
        ),
        "held": (
            "Ce lien a été bloqué",
            "L’exploitant de ce service l’a bloqué parce qu’il pourrait être nuisible. Vous n’êtes pas "
            "redirigé.",
        ),
        "report": ("Signaler ce lien", ""),
        "thanks": ("Merci", "L’exploitant de ce service a reçu votre signalement."),
        "too_many": ("Trop de signalements sont venus d’ici", "Veuillez réessayer dans une heure."),
        "unavailable": (
            "Ce lien ne peut pas être ouvert pour le moment",
            "Veuillez réessayer dans quelques secondes.",
        ),
        "opens_app": (
            "Ce lien s’ouvre dans l’application",
            "Si rien ne se passe, l’application n’est peut-être pas encore installée.",
        ),
        "app": ("Ouvrir dans l’application", "Continuer dans le navigateur"),
        "in_app": (
            "Ce lien s’ouvre dans l’application",
            "Si rien ne se passe, ouvrez le menu de cette application et choisissez-y le navigateur.",
        ),
        "leave": ("Ouvrir dans le navigateur", "Continuer ici"),
        "by_mail": (
            "Ce lien s’ouvre dans l’application",
            "Si rien ne se passe, ou si Safari ne peut pas ouvrir la page, l’application n’est pas "
            "encore installée.",
        ),
        "get_app": ("Obtenir l’application", ""),
        "leads_to": (
            "Où mène ce lien",
            "Si vous avez l’application correspondante, le lien ouvre l’application.",
        ),
        "leads_on": ("Continuer", ""),
        "not_told": (
            "La destination de ce lien n’est pas affichée ici",
            "Il faut un mot de passe, ou le lien ne s’ouvre que pour un nombre limité de visiteurs.",
        ),
        "store": (
            "Ce lien s’ouvre dans l’application",
            "Le bouton mène à l’App Store. Il copie aussi un texte à usage unique, grâce auquel "
            "l’application retrouve ce lien à sa première ouverture.",
        ),
        "to_store": ("Copier et obtenir l’application", "Obtenir l’application sans copier"),
        "to_continue": (
            "Continuer vers le lien",
            "Ce lien ne peut être ouvert que quelques fois. Le bouton montre que quelqu’un est là, et "
            "non un programme qui vérifie les e-mails.",
        ),
        "password": (
            "Ce lien est protégé par un mot de passe",
            "La personne qui vous a donné le lien peut vous l’indiquer.",
        ),
        "password_form": ("Mot de passe", "Ouvrir le lien"),
        "password_refused": (
            "Ce mot de passe n’est pas le bon.",
            "Il y a eu trop d’essais erronés. Veuillez réessayer plus tard.",
        ),
    },
    "es": {
        "not_found": (
            "Este enlace no funciona",
            "Puede que se haya desactivado o que esté mal escrito. Compruebe la dirección o pregunte a quien "
            "se la dio.",
        ),
        "held": (
            "Este enlace está bloqueado",
            "Quien gestiona este servicio lo ha bloqueado porque podría ser dañino. No se le redirige.",
        ),
        "report": ("Denunciar este enlace", ""),
        "thanks": ("Gracias", "Quien gestiona este servicio ha recibido su denuncia."),
        "too_many": (
            "Han llegado demasiadas denuncias desde aquí",
            "Vuelva a intentarlo dentro de una hora.",
        ),
        "unavailable": (
            "Este enlace no se puede abrir ahora",
            "Vuelva a intentarlo en unos segundos.",
        ),
        "opens_app": (
            "Este enlace se abre en la aplicación",
            "Si no ocurre nada, puede que la aplicación aún no esté instalada.",
        ),
        "app": ("Abrir en la aplicación", "Continuar en el navegador"),
        "in_app": (
            "Este enlace se abre en la aplicación",
            "Si no ocurre nada, abra el menú de esta aplicación y elija allí el navegador.",
        ),
        "leave": ("Abrir en el navegador", "Continuar aquí"),
        "by_mail": (
            "Este enlace se abre en la aplicación",
            "Si no ocurre nada, o si Safari no puede abrir la página, la aplicación aún no está instalada.",
        ),
        "get_app": ("Obtener la aplicación", ""),
        "leads_to": (
            "Adónde lleva este enlace",
            "Si tiene la aplicación correspondiente, el enlace abre la aplicación.",
        ),
        "leads_on": ("Continuar", ""),
        "not_told": (
            "Aquí no se muestra adónde lleva este enlace",
            "Necesita una contraseña o solo se abre para un número limitado de visitantes.",
        ),
        "store": (
            "Este enlace se abre en la aplicación",
            "El botón lleva al App Store. También copia un texto de un solo uso, con el que la aplicación "
            "encuentra este enlace cuando la abra por primera vez.",
        ),
        "to_store": ("Copiar y obtener la aplicación", "Obtener la aplicación sin copiar"),
        "to_continue": (
            "Continuar al enlace",
            "Este enlace solo se puede abrir unas pocas veces. El botón demuestra que hay alguien "
            "aquí, y no un programa que revisa el correo.",
        ),
        "password": (
            "Este enlace necesita una contraseña",
            "Quien le dio el enlace puede decírsela.",
        ),
        "password_form": ("Contraseña", "Abrir el enlace"),
        "password_refused": (
            "Esa contraseña no es correcta.",
            "Ha habido demasiados intentos erróneos. Vuelva a intentarlo más tarde.",
        ),
    },
}


def texts_in(language: str) -> dict[str, tuple[str, str]]:
    """The texts in a language that `language_of` returned, by name."""
    return _TEXTS[language]


@remember(most_bytes=500_000, longest_key=_LONGEST_HEADER)
def language_of(accept_language: bytes) -> str:
    """The language that an Accept-Language header prefers among those we have; English if there is none."""
    regionless = (tag.partition("-")[0] for tag in preferred_languages(accept_language))
    return next((name for name in regionless if name in _TEXTS), DEFAULT)
