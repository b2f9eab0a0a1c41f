"""Rules for the webhook endpoints of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.fields.rules import Flag, Uuid, parse_string
from backend.domain.webhooks.endpoint import Form
from backend.domain.webhooks.endpoint_fields import MOST_CHOSEN, BatchSize
from backend.domain.webhooks.retries import LONGEST_ERROR
from backend.domain.webhooks.signing import SECRET_BYTES, key_in
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule
from backend.storage.schema.document_fields import (
    DocumentFields,
    as_stored,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    text,
    text_of,
    time,
)
from backend.storage.webhooks import endpoints


def _secret(name: str, value: object) -> object:
    secret = parse_string(name, value)
    try:
        is_ours = len(key_in(secret)) == SECRET_BYTES
    except ValueError:
        is_ours = False
    if not is_ours:
        raise InvalidField(name, "must be a secret as the service makes them")
    return secret


def _cursor(name: str, value: object) -> object:
    return str(Cursor.parse(parse_string(name, value)))


def _count(name: str, value: object) -> object:
    if not isinstance(count := integer(name, value), int) or not 0 <= count < 2**62:
        raise InvalidField(name, "must be a whole number from 0")
    return count


_ids = list_of(Uuid().parse, MOST_CHOSEN)
_ENDPOINT = DocumentFields(
    {
        # Whether loopback addresses are allowed is not for the archive to say: that is checked again before
        # anything is sent.
        "url": ReceiverUrl(allows_loopback=True).parse,
        "created_at": time,
        "cursor": _cursor,
        "cursor_at": time,
        "sent_to": _cursor,
        "secret": _secret,
        "old_secrets": list_of(
            nested(DocumentFields({"secret": _secret, "until": time})), endpoints.MOST_OLD_SECRETS
        ),
        "types": list_of(one_of(EventType), MOST_CHOSEN),
        "link_ids": _ids,
        "tag_ids": _ids,
        "form": one_of(Form),
        "batch_size": BatchSize().parse,
        "is_enabled": Flag().parse,
        "failing_since": or_none(time),
        "failures": _count,
        "next_try_at": or_none(time),
        "slept_at": or_none(time),
        "last_error": or_none(text_of(LONGEST_ERROR)),
        "delivered": _count,
        "repeats": _count,
        "holder": or_none(text),
        "term": _count,
    }
)


def _endpoint(document: Document, _: ArchiveContext) -> None:
    _ENDPOINT.check(document)
    as_stored("_id", document["_id"], Uuid().parse)


RULES: Mapping[str, DocumentRule] = {endpoints.NAME: _endpoint}
