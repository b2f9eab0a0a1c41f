"""Messages for chats: sentences that people read, and in which strangers can do nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId, OrgId
from backend.domain.webhooks.chat_messages import chat_message
from backend.domain.webhooks.endpoint import Form
from backend.domain.webhooks.sentences import Sentence, sentence_about

LINK = LinkId("l")
SHORT_URLS = {LINK: "https://go.shop.com/spring"}
MADE = {"id": LINK, "short_url": SHORT_URLS[LINK]}
# What chats make something of.
HOSTILE = "@everyone <!channel> <@U1> *b* [x](https://evil.example) evil.example\n# h\u202e"
CHATS = [Form.SLACK, Form.DISCORD, Form.TEAMS]


def event(type_: EventType, **data: Any) -> Event:
    """An event of this type."""
    return Event("e-0", type_, datetime(2026, 5, 6, tzinfo=UTC), OrgId("o"), data, START)


@pytest.mark.parametrize(
    ("told_event", "sentence"),
    [
        (
            event(EventType.CONVERSION, revenue="49.90", currency="EUR", link_id=LINK, told_again=False),
            "New sale of 49.90 EUR through go.shop.com/spring",
        ),
        (
            event(EventType.CONVERSION, revenue="5", currency="JPY", link_id=None, told_again=True),
            "More about a sale of 5 JPY",
        ),
        (
            event(EventType.CLICK, counted=True, country="DE", link_id=LINK),
            "New click from DE on go.shop.com/spring",
        ),
        (
            event(EventType.CLICK, counted=False, country=None, link_id=LINK),
            "Click that does not count, on go.shop.com/spring",
        ),
        (event(EventType.LEAD, name="Ada", link_id=LINK), "New lead: Ada, through go.shop.com/spring"),
        (event(EventType.LEAD, name=None, link_id=None), "New lead"),
        (
            event(EventType.REFUND, amount="10.00", currency="EUR", transaction_id="A-7"),
            "Refund of 10.00 EUR for order A-7",
        ),
        (event(EventType.EVENT, name="signup", link_id="gone"), "New event “signup”"),
        (event(EventType.IDENTIFY, customer_id="c-1", taken_back=False),
         "A visitor was identified as customer c-1"),
        (event(EventType.IDENTIFY, customer_id="c-1", taken_back=True),
         "A visitor is not customer c-1 after all"),
        (event(EventType.INSTALL, platform="ios", link_id=LINK),
         "New install on iOS through go.shop.com/spring"),
        (event(EventType.LINK_CREATED, link=MADE), "New link go.shop.com/spring"),
        (event(EventType.LINK_CHANGED, link=MADE), "Somebody changed the link go.shop.com/spring"),
        (event(EventType.LINK_ARCHIVED, link=MADE), "Somebody archived the link go.shop.com/spring"),
        (event(EventType.OPEN, counted=True, link_id=LINK), "The app was opened through go.shop.com/spring"),
        (event(EventType.ALERT, rule_name="Sites", link_id=None, why="5 requests of https://evil.example."),
         "Alert “Sites”: 5 requests of https:\u200b/\u200b/\u200bevil.\u200bexample"),
        (event(EventType.ALERT, rule_name="Summer", link_id=LINK, why="No click in the hour.", ended_at="z"),
         "Alert “Summer” is over: No click in the hour – about go.shop.com/spring"),
        (event(EventType.ERASED), "Everything about a person was erased"),
    ],
)  # fmt: skip
def test_what_people_read(told_event: Event, sentence: str) -> None:
    """Each type of event is a sentence."""
    assert sentence_about(told_event, SHORT_URLS).text == sentence


def test_every_type_is_a_sentence() -> None:
    """Also where nothing is known but the type."""
    assert all(sentence_about(event(type_), {}).text for type_ in EventType)


@pytest.mark.parametrize("form", CHATS)
def test_strangers_can_do_nothing(form: Form) -> None:
    """No mention, no link but the short URL, and no line of their own."""
    told_events = [
        event(EventType.LEAD, name=HOSTILE, link_id=LINK),
        event(EventType.EVENT, name=HOSTILE),
        event(EventType.IDENTIFY, customer_id=HOSTILE),
        event(EventType.REFUND, amount=HOSTILE, currency=HOSTILE, transaction_id=HOSTILE),
    ]
    for told_event in told_events:
        message = chat_message(form, [sentence_about(told_event, SHORT_URLS)])
        text = json.dumps(message, ensure_ascii=False)
        for part in ("@everyone", "<!channel", "<@U1", "https://evil", "evil.example", "\u202e", "\\n# h"):
            assert part not in text
    slack = chat_message(Form.SLACK, [Sentence("a <b> & c")])
    assert slack["text"] == "a &lt;b&gt; &amp; c"
    discord = chat_message(Form.DISCORD, [Sentence("*a* `b` [c](d)")])
    assert discord["content"] == r"\*a\* \`b\` \[c\]\(d\)"
    assert discord["allowed_mentions"] == {"parse": []}


def test_the_forms() -> None:
    """The bodies are as the chats' incoming webhooks take them, with the short URL as a link."""
    sale = event(EventType.CONVERSION, revenue="49.90", currency="EUR", link_id=LINK)
    slack, discord, teams = (chat_message(form, [sentence_about(sale, SHORT_URLS)]) for form in CHATS)
    assert slack["text"] == "New sale of 49.90 EUR through go.shop.com/spring"
    assert slack["blocks"][0]["elements"][0]["elements"] == [
        {"type": "text", "text": "New sale of 49.90 EUR through "},
        {"type": "link", "url": "https://go.shop.com/spring", "text": "go.shop.com/spring"},
    ]
    assert discord["content"] == "New sale of 49.90 EUR through <https://go.shop.com/spring>"
    [attachment] = teams["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["content"]["body"][0]["inlines"][1] == {
        "type": "TextRun",
        "text": "go.shop.com/spring",
        "selectAction": {"type": "Action.OpenUrl", "url": "https://go.shop.com/spring"},
    }


@pytest.mark.parametrize("form", CHATS)
def test_messages_are_bounded(form: Form) -> None:
    """A hundred long sentences are cut to what the chat takes, and the message says how many are left out."""
    long = Sentence("*" * 300, f"https://go.shop.com/{'p' * 500}")
    for message in (chat_message(form, [long] * 100), chat_message(form, [Sentence("short")] * 100)):
        assert len(json.dumps(message).encode()) <= 28 * 1024
        assert len(message.get("content", "")) <= 2_000
        assert len(message.get("text", "")) <= 4_000
    text = json.dumps(chat_message(form, [long] * 100), ensure_ascii=False)
    assert "… and 9" in text
