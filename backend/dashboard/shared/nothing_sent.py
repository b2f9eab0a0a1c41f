"""The page for whoever unsubscribes from what is sent no more. It knows no session, and no reader either."""

from __future__ import annotations

from quart import Response, request

from backend.dashboard.shared.blueprint import public_page
from backend.domain.mail.language import Language
from backend.mail.texts import text_in


async def nothing_is_sent() -> Response:
    """Say that there is nothing left to unsubscribe from.

    Who had the link is known no more, so the language is that of the browser. The status is 200: for a mail
    program's own button, the person is unsubscribed.
    """
    named = request.accept_languages.best_match([language.value for language in Language])
    language = Language(named or Language.EN)
    return await public_page(
        "said.html",
        language=language.value,
        title=text_in(language, "pages", "nothing_title"),
        text=text_in(language, "pages", "nothing_text"),
    )
