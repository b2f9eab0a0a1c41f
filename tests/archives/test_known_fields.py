"""The rules for archives keep up with what the service stores."""

from __future__ import annotations

from dataclasses import fields

import pytest

from backend.domain.accounts.api_keys import ApiKey
from backend.domain.accounts.organizations import Organization
from backend.domain.accounts.users import User
from backend.storage.lifecycle.archived_documents import organization
from backend.storage.lifecycle.archived_documents.check import RULES
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.schema.document_fields import DocumentFields

# Who delivers to an endpoint, what it may have been sent, how an address is found, when an alert is
# forgotten, how often members changed, and how often a user signed in, is storage's to know.
_ONLY_STORED = {
    *("holder", "term", "sent_to", "address_sha256", "is_open", "is_unwatched", "expires_at"),
    *("member_changes", "sign_ins"),
}


@pytest.mark.parametrize(
    ("rule", "record"),
    [
        (organization._API_KEY, ApiKey),
        (organization._USER, User),
        (organization._ORGANIZATION, Organization),
    ],
    ids=["keys", "users", "organizations"],
)
def test_no_field_is_forgotten(rule: DocumentFields, record: type) -> None:
    """A field that is added to a record gets a rule, or what has it could not be restored."""
    rule_fields = {*rule.required, *rule.optional}
    known = {item.name for item in fields(record)} - {"id", "org_id"}
    assert known == rule_fields - (_ONLY_STORED - known)


def test_every_archived_collection_has_a_rule() -> None:
    """What archives have of a new collection is checked as well before it is stored, or can't be restored."""
    assert RULES.keys() == archived_collections().keys()
