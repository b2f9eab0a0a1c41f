"""Messages for chats: bodies that incoming webhooks of Slack, Discord and Microsoft Teams take."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.domain.webhooks.endpoint import Form
from backend.domain.webhooks.sentences import Sentence

# Characters of a message's text. Slack shortens one beyond 4,000, Discord takes 2,000, and Teams 28 KB.
_LONGEST: Mapping[Form, int] = {Form.SLACK: 3_000, Form.DISCORD: 1_900, Form.TEAMS: 8_000}
_DISCORD_MARKUP = re.compile(r"([\\*_~`|>#\-\[\]()<:])")
_DISCORD_WITHOUT_PREVIEWS = 4


def chat_message(form: Form, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """The message, a line for each of these sentences; where they are too many, it says how many more."""
    return _MESSAGES[form](_bounded(sentences, _LONGEST[form]))


def _bounded(sentences: Sequence[Sentence], most: int) -> list[Sentence]:
    kept: list[Sentence] = []
    remaining = most
    for number, sentence in enumerate(sentences):
        # Escapes may double each character of the words, and the URL is told once as text and once as a link.
        remaining -= 2 * len(sentence.words) + 2 * len(sentence.short_url) + 10
        if remaining < 0 and kept:
            return [*kept, Sentence(f"… and {len(sentences) - number} more")]
        kept.append(sentence)
    return kept


def _slack(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Text is text in `rich_text`: nothing in it is read as markup. `text` is what notifications show."""
    elements: list[dict[str, Any]] = []
    for number, sentence in enumerate(sentences):
        begin = "\n" if number else ""
        elements.append(
            {"type": "text", "text": f"{begin}{sentence.words}{' ' if sentence.short_url else ''}"}
        )
        if sentence.short_url:
            elements.append({"type": "link", "url": sentence.short_url, "text": sentence.shown_url})
    section = {"type": "rich_text_section", "elements": elements}
    return {
        "text": "\n".join(_slack_text(sentence.text) for sentence in sentences),
        "blocks": [{"type": "rich_text", "elements": [section]}],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _slack_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _discord(sentences: Sequence[Sentence]) -> dict[str, Any]:
    lines = (
        _DISCORD_MARKUP.sub(r"\\\1", sentence.words)
        + (f" <{sentence.short_url}>" if sentence.short_url else "")
        for sentence in sentences
    )
    return {
        "content": "\n".join(lines),
        "allowed_mentions": {"parse": []},
        "flags": _DISCORD_WITHOUT_PREVIEWS,
    }


def _teams(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Text is text in a TextRun: nothing in it is read as Markdown."""
    return {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": [{"type": "RichTextBlock", "inlines": _runs(sentence)} for sentence in sentences],
                },
            }
        ],
    }


def _runs(sentence: Sentence) -> list[dict[str, Any]]:
    if not sentence.short_url:
        return [{"type": "TextRun", "text": sentence.words}]
    opens = {"type": "Action.OpenUrl", "url": sentence.short_url}
    return [
        {"type": "TextRun", "text": f"{sentence.words} "},
        {"type": "TextRun", "text": sentence.shown_url, "selectAction": opens},
    ]


_MESSAGES: Mapping[Form, Callable[[Sequence[Sentence]], dict[str, Any]]] = {
    Form.SLACK: _slack,
    Form.DISCORD: _discord,
    Form.TEAMS: _teams,
}
